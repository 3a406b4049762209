//! What a URDF file says of a robot, with lines; what no mechanics follows from, such as meshes and materials, is passed over, but for
//! primitives, by which links are drawn.

mod transmission;

use super::frame::Frame;
use costate_identify::{Error, Result};
use roxmltree::{Document, Node};
use std::collections::HashMap;
use std::path::Path;
pub(super) use transmission::{Motor, reduction_of_joint};

/// A robot as its file says it.
pub(super) struct Robot {
    pub name: String,
    pub links: Vec<Link>,
    pub joints: Vec<Joint>,
    pub loops: Vec<Loop>,
    /// Motors that turn two joints each.
    pub motors: Vec<Motor>,
}

pub(super) struct Link {
    pub name: String,
    pub line: u64,
    /// Mass, frame and entries xx, yy, zz, xy, xz, yz of the tensor there.
    pub inertial: Option<(f64, Frame, [f64; 6])>,
    /// What it looks like, as far as that is made of primitives.
    pub shapes: Vec<(Frame, Form)>,
}

/// A primitive, in m; what is long is so along z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    Box([f64; 3]),
    Cylinder { radius: f64, length: f64 },
    Capsule { radius: f64, length: f64 },
    Ball { radius: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Revolute,
    Prismatic,
    Fixed,
    Floating,
    Planar,
}

/// Limits of a joint, as far as the file has them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub places: Option<[f64; 2]>,
    pub rate: Option<f64>,
    pub effort: Option<f64>,
}

pub(super) struct Joint {
    pub name: String,
    pub line: u64,
    pub kind: Kind,
    pub parent: usize,
    pub child: usize,
    pub frame: Frame,
    /// Of length one.
    pub axis: [f64; 3],
    /// What it may do, in its units.
    pub limits: Limits,
    /// Viscous and dry friction, if the file has them.
    pub friction: Option<[f64; 2]>,
    /// The joint that it follows, how far, and from where.
    pub mimic: Option<(String, f64, f64)>,
    /// Inertia of its rotor, times the square of the gear ratio.
    pub rotor: f64,
    /// True where a transmission names it.
    pub has_motor: bool,
}

/// A joint that closes a loop: two places on links.
pub(super) struct Loop {
    pub name: String,
    pub line: u64,
    /// Kind of the joint in a mechanism file.
    pub kind: &'static str,
    /// Links, and where on them: `None` where that follows from the other one at rest.
    pub places: [(usize, Option<Frame>); 2],
    /// Of length one, on each of them.
    pub axes: [[f64; 3]; 2],
}

impl Joint {
    /// True for what turns or slides by itself.
    pub fn moves_by_itself(&self) -> bool {
        matches!(self.kind, Kind::Revolute | Kind::Prismatic) && self.mimic.is_none()
    }
}

impl Robot {
    /// Which joints have motors, of those that move by themselves: those that are named; or else all of a robot without loops, and of one with loops those that
    /// transmissions name.
    ///
    /// # Errors
    /// A name of no such joint; a robot without loops some of whose joints have none.
    pub fn motors(&self, path: &Path, named: &[String]) -> Result<Option<Vec<bool>>> {
        let own: Vec<&Joint> = self.joints.iter().filter(|joint| joint.moves_by_itself()).collect();
        if named.is_empty() {
            let all: Vec<bool> = self
                .joints
                .iter()
                .map(|joint| joint.moves_by_itself() && (self.loops.is_empty() || joint.has_motor))
                .collect();
            return Ok(all.contains(&true).then_some(all));
        }
        for name in named {
            if !own.iter().any(|joint| joint.name == *name) {
                let names = own.iter().map(|joint| joint.name.as_str());
                return Err(Error::unknown("joint that moves by itself", name, path.display().to_string(), names));
            }
        }
        if let (true, Some(joint)) = (self.loops.is_empty(), own.iter().find(|joint| !named.contains(&joint.name))) {
            let problem = format!("joint `{}` has none, and no loop moves it", joint.name);
            return Err(Error::invalid("the motors", problem, "name all joints, or leave them out"));
        }
        Ok(Some(self.joints.iter().map(|joint| named.contains(&joint.name)).collect()))
    }
}

/// What is read.
struct Reader<'x> {
    path: &'x Path,
    document: &'x Document<'x>,
    links: HashMap<&'x str, usize>,
}

/// Reads a robot.
///
/// # Errors
/// What is no XML or no robot, or contradicts itself, with the line.
pub(super) fn read(text: &str, path: &Path) -> Result<Robot> {
    let document = Document::parse(text).map_err(|error| {
        let line = u64::from(error.pos().row);
        Error::file(path, Some(line), format!("it is no XML: {error}"), "give a URDF file, of XML")
    })?;
    let mut reader = Reader { path, document: &document, links: HashMap::new() };
    reader.robot()
}

impl<'x> Reader<'x> {
    fn line(&self, node: Node<'x, 'x>) -> u64 {
        u64::from(self.document.text_pos_at(node.range().start).row)
    }

    fn wrong(&self, node: Node<'x, 'x>, problem: impl Into<String>, remedy: &str) -> Error {
        Error::file(self.path, Some(self.line(node)), problem.into(), remedy)
    }

    /// An element below, by its name; of several the first, as other readers have it.
    fn child(&self, node: Node<'x, 'x>, name: &str) -> Option<Node<'x, 'x>> {
        node.children().find(|child| child.tag_name().name() == name)
    }

    fn name(&self, node: Node<'x, 'x>) -> Result<&'x str> {
        let kind = node.tag_name().name();
        let name = node.attribute("name").unwrap_or_default();
        if name.is_empty() {
            return Err(self.wrong(node, format!("this {kind} has no name"), "give it a `name`"));
        }
        Ok(name)
    }

    /// Numbers of an attribute.
    fn numbers<const N: usize>(&self, node: Node<'x, 'x>, key: &str, default: [f64; N]) -> Result<[f64; N]> {
        match node.attribute(key) {
            None => Ok(default),
            Some(text) => self.parsed(node, key, text),
        }
    }

    fn parsed<const N: usize>(&self, node: Node<'x, 'x>, key: &str, text: &str) -> Result<[f64; N]> {
        let read: std::result::Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        let all = read.ok().filter(|all| all.iter().all(|number| number.is_finite()));
        all.and_then(|all| all.try_into().ok()).ok_or_else(|| {
            let many = if N == 1 { "no number".to_string() } else { format!("no {N} numbers") };
            let problem = format!("`{key}` of <{}> is {many}: \"{text}\"", node.tag_name().name());
            let is_macro = text.contains("${");
            self.wrong(node, problem, if is_macro { EXPAND } else { "write numbers with points, and spaces between" })
        })
    }

    fn number(&self, node: Node<'x, 'x>, key: &str) -> Result<f64> {
        let text = node
            .attribute(key)
            .ok_or_else(|| self.wrong(node, format!("<{}> has no `{key}`", node.tag_name().name()), "give it"))?;
        self.parsed::<1>(node, key, text).map(|[number]| number)
    }

    fn number_or(&self, node: Node<'x, 'x>, key: &str, default: f64) -> Result<f64> {
        self.numbers(node, key, [default]).map(|[number]| number)
    }

    fn frame(&self, node: Node<'x, 'x>) -> Result<Frame> {
        Ok(Frame::by_angles(self.numbers(node, "xyz", [0.0; 3])?, self.numbers(node, "rpy", [0.0; 3])?))
    }

    fn origin(&self, node: Node<'x, 'x>) -> Result<Frame> {
        self.child(node, "origin").map_or(Ok(Frame::SAME), |origin| self.frame(origin))
    }

    fn robot(&mut self) -> Result<Robot> {
        let root = self.document.root_element();
        if root.tag_name().name() != "robot" {
            let problem = format!("its first element is <{}>, not <robot>", root.tag_name().name());
            return Err(self.wrong(root, problem, "give a URDF file; SDF and MJCF are other formats"));
        }
        let is_macro = |node: &Node<'x, 'x>| node.tag_name().namespace().is_some_and(|space| space.contains("xacro"));
        if let Some(node) = root.descendants().find(is_macro) {
            return Err(self.wrong(node, "it has xacro macros that are not expanded", EXPAND));
        }
        let all = |name: &'static str| root.children().filter(move |node| node.tag_name().name() == name);
        let mut links = Vec::new();
        for node in all("link") {
            let name = self.name(node)?;
            if self.links.insert(name, links.len()).is_some() {
                return Err(self.wrong(node, format!("there are two links `{name}`"), "give each its own name"));
            }
            let (inertial, shapes) = (self.inertial(node)?, self.shapes(node));
            links.push(Link { name: name.into(), line: self.line(node), inertial, shapes });
        }
        if links.is_empty() {
            return Err(self.wrong(root, "this robot has no links", "give it links and joints"));
        }
        let mut joints = Vec::new();
        for node in all("joint") {
            joints.push(self.joint(node)?);
        }
        let mut motors = Vec::new();
        for node in all("transmission") {
            match self.coupling(node) {
                None => self.transmission(node, &mut joints)?,
                Some(signs) => motors.extend(self.coupled(node, signs, &mut joints)?),
            }
        }
        let mut loops = Vec::new();
        for node in all("loop_joint") {
            loops.push(self.loop_joint(node)?);
        }
        for node in all("gazebo").flat_map(|node| node.children()).filter(|node| node.tag_name().name() == "joint") {
            loops.push(self.sdf_joint(node)?);
        }
        for node in all("constraint") {
            loops.push(self.constraint(node)?);
        }
        let name = root.attribute("name").unwrap_or("robot").to_string();
        Ok(Robot { name, links, joints, loops, motors })
    }

    fn inertial(&self, link: Node<'x, 'x>) -> Result<Option<(f64, Frame, [f64; 6])>> {
        let Some(node) = self.child(link, "inertial") else { return Ok(None) };
        let frame = self.origin(node)?;
        let mass = match self.child(node, "mass") {
            Some(mass) => self.number(mass, "value")?,
            None => return Err(self.wrong(node, "<inertial> has no <mass>", "give one, or leave <inertial> out")),
        };
        let tensor = match self.child(node, "inertia") {
            None => [0.0; 6],
            Some(own) => {
                let keys = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
                let mut tensor = [0.0; 6];
                for (k, (entry, key)) in tensor.iter_mut().zip(keys).enumerate() {
                    *entry = if k < 3 { self.number(own, key)? } else { self.number_or(own, key, 0.0)? };
                }
                tensor
            }
        };
        if mass < 0.0 {
            return Err(self.wrong(node, format!("the mass is {mass} kg"), "give a positive one"));
        }
        Ok(Some((mass, frame, tensor)))
    }

    /// Primitives that are seen, or else those that collide; nothing but pictures depends on them, and what cannot be read is left out.
    fn shapes(&self, link: Node<'x, 'x>) -> Vec<(Frame, Form)> {
        let shape = |node: Node<'x, 'x>| {
            let geometry = self.child(node, "geometry")?;
            let form = geometry.children().find_map(|own| {
                let size = |key: &str| self.number(own, key).ok().filter(|size| *size > 0.0);
                match own.tag_name().name() {
                    "box" => {
                        let edges = self.numbers(own, "size", [0.0; 3]).ok()?;
                        edges.iter().all(|edge| *edge > 0.0).then_some(Form::Box(edges))
                    }
                    "cylinder" => Some(Form::Cylinder { radius: size("radius")?, length: size("length")? }),
                    "capsule" => Some(Form::Capsule { radius: size("radius")?, length: size("length")? }),
                    "sphere" => Some(Form::Ball { radius: size("radius")? }),
                    _ => None,
                }
            })?;
            Some((self.origin(node).ok()?, form))
        };
        let all = |name: &str| -> Vec<_> {
            link.children().filter(|node| node.tag_name().name() == name).filter_map(shape).collect()
        };
        let seen = all("visual");
        if seen.is_empty() { all("collision") } else { seen }
    }

    fn link(&self, node: Node<'x, 'x>, name: &str) -> Result<usize> {
        self.links.get(name).copied().ok_or_else(|| {
            let error = costate::Error::unknown("link", name, "", self.links.keys());
            self.wrong(node, error.to_string(), "name a link of this robot")
        })
    }

    fn linked(&self, joint: Node<'x, 'x>, key: &str) -> Result<usize> {
        let node = self
            .child(joint, key)
            .ok_or_else(|| self.wrong(joint, format!("this joint has no <{key}>"), "name a link there"))?;
        self.link(node, node.attribute("link").unwrap_or_default())
    }

    /// An axis of length one.
    fn axis(&self, node: Node<'x, 'x>, axis: [f64; 3]) -> Result<[f64; 3]> {
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(length > 1e-9 && length.is_finite()) {
            return Err(self.wrong(node, "the axis has no length", "give a direction, such as xyz=\"0 0 1\""));
        }
        Ok(axis.map(|x| x / length))
    }

    fn joint(&self, node: Node<'x, 'x>) -> Result<Joint> {
        let name = self.name(node)?;
        let kind = match node.attribute("type") {
            Some("revolute" | "continuous") => Kind::Revolute,
            Some("prismatic") => Kind::Prismatic,
            Some("fixed") => Kind::Fixed,
            Some("floating") => Kind::Floating,
            Some("planar") => Kind::Planar,
            other => {
                let other = other.unwrap_or_default();
                let known = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"];
                let error = costate::Error::unknown("type of joint", other, format!("joint `{name}`"), known);
                return Err(self.wrong(node, error.to_string(), "take one of URDF's"));
            }
        };
        let axis = match self.child(node, "axis") {
            Some(own) if !matches!(kind, Kind::Fixed | Kind::Floating) => {
                self.axis(own, self.numbers(own, "xyz", [1.0, 0.0, 0.0])?)?
            }
            _ => [1.0, 0.0, 0.0],
        };
        let friction = match self.child(node, "dynamics") {
            Some(own) => Some([self.number_or(own, "damping", 0.0)?, self.number_or(own, "friction", 0.0)?]),
            None => None,
        };
        let mimic = match self.child(node, "mimic") {
            Some(own) => {
                let leader = own.attribute("joint").unwrap_or_default().to_string();
                Some((leader, self.number_or(own, "multiplier", 1.0)?, self.number_or(own, "offset", 0.0)?))
            }
            None => None,
        };
        let limits = match self.child(node, "limit") {
            Some(own) => self.limits(own, node.attribute("type") == Some("continuous"))?,
            None => Limits::default(),
        };
        Ok(Joint {
            limits,
            name: name.into(),
            line: self.line(node),
            kind,
            parent: self.linked(node, "parent")?,
            child: self.linked(node, "child")?,
            frame: self.origin(node)?,
            axis,
            friction,
            mimic,
            rotor: 0.0,
            has_motor: false,
        })
    }

    /// Limits, of which zero says nothing, nor does a range without extent.
    fn limits(&self, node: Node<'x, 'x>, is_continuous: bool) -> Result<Limits> {
        let [lower, upper, rate, effort] =
            ["lower", "upper", "velocity", "effort"].map(|key| self.number_or(node, key, 0.0));
        let (lower, upper) = (lower?, upper?);
        if lower > upper {
            let problem = format!("the limit `lower` is {lower}, above `upper`, {upper}");
            return Err(self.wrong(node, problem, "exchange them"));
        }
        Ok(Limits {
            places: (lower < upper && !is_continuous).then_some([lower, upper]),
            rate: Some(rate?).filter(|rate| *rate > 0.0),
            effort: Some(effort?).filter(|effort| *effort > 0.0),
        })
    }

    fn loop_joint(&self, node: Node<'x, 'x>) -> Result<Loop> {
        let name = self.name(node)?;
        let mut places = Vec::new();
        for key in ["link1", "link2"] {
            let own = self.child(node, key).ok_or_else(|| {
                self.wrong(
                    node,
                    format!("this loop joint has no <{key}>"),
                    "name both links, each with `xyz` and `rpy`",
                )
            })?;
            places.push((self.link(own, own.attribute("link").unwrap_or_default())?, Some(self.frame(own)?)));
        }
        let axis = match self.child(node, "axis") {
            Some(own) => self.axis(own, self.numbers(own, "xyz", [1.0, 0.0, 0.0])?)?,
            None => [1.0, 0.0, 0.0],
        };
        let kind = self.kind_of_loop(node)?;
        // there are two
        let places = [places.remove(0), places.remove(0)];
        Ok(Loop { name: name.into(), line: self.line(node), kind, places, axes: [axis; 2] })
    }

    /// A constraint as it is proposed for urdfdom (ros/urdfdom#264): both links with a frame and an axis in it each.
    fn constraint(&self, node: Node<'x, 'x>) -> Result<Loop> {
        let name = self.name(node)?;
        let kind = match node.attribute("type") {
            Some("universal") => "universal",
            _ => self.kind_of_loop(node)?,
        };
        let (mut places, mut axes) = (Vec::new(), Vec::new());
        for key in ["parent", "child"] {
            let own = self.child(node, key).ok_or_else(|| {
                self.wrong(node, format!("this constraint has no <{key}>"), "name both links, with origin and axis")
            })?;
            let link = self.link(own, own.attribute("link").unwrap_or_default())?;
            // the proposal has both
            let origin = self.child(node, &format!("{key}_origin")).or(self.child(own, "origin"));
            let frame = match origin {
                Some(own) => self.frame(own)?,
                None => Frame::SAME,
            };
            places.push((link, Some(frame)));
            axes.push(match self.child(node, &format!("{key}_axis")) {
                Some(own) => self.axis(own, self.numbers(own, "xyz", [1.0, 0.0, 0.0])?)?,
                // the child's is that of the parent
                None => axes.first().copied().unwrap_or([1.0, 0.0, 0.0]),
            });
        }
        if kind == "weld" {
            axes.fill([1.0, 0.0, 0.0]); // its frames alone hold
        }
        if kind == "prismatic" && axes[0] != axes[1] {
            let remedy = "turn one of the frames (`rpy`), so that the axis is the same in both";
            return Err(self.wrong(
                node,
                "the axes of this prismatic joint do not say how it is turned about them",
                remedy,
            ));
        }
        if kind == "universal" && axes[0] == axes[1] {
            let remedy = "give <parent_axis> and <child_axis>, the two bars of the cross";
            return Err(self.wrong(node, "both axes of this universal joint are one", remedy));
        }
        // there are two
        let (places, axes) = ([places.remove(0), places.remove(0)], [axes[0], axes[1]]);
        Ok(Loop { name: name.into(), line: self.line(node), kind, places, axes })
    }

    fn kind_of_loop(&self, node: Node<'x, 'x>) -> Result<&'static str> {
        match node.attribute("type").unwrap_or_default() {
            "revolute" | "continuous" => Ok("revolute"),
            "prismatic" => Ok("prismatic"),
            "ball" | "spherical" => Ok("spherical"),
            "fixed" => Ok("weld"),
            other => {
                let known = ["revolute", "continuous", "prismatic", "ball", "fixed"];
                let error = costate::Error::unknown("type of joint that closes a loop", other, "", known);
                Err(self.wrong(node, error.to_string(), "take one of these"))
            }
        }
    }

    /// A joint of SDF among the words for Gazebo: its frame is that of the child, and both links are where the tree has them at rest.
    fn sdf_joint(&self, node: Node<'x, 'x>) -> Result<Loop> {
        let name = self.name(node)?;
        let text = |key: &str| -> Result<&'x str> {
            let own = self.child(node, key).and_then(|own| own.text()).map(str::trim);
            own.ok_or_else(|| self.wrong(node, format!("this joint of SDF has no <{key}>"), "name a link there"))
        };
        let (parent, child) = (self.link(node, text("parent")?)?, self.link(node, text("child")?)?);
        let pose = match self.child(node, "pose") {
            Some(own) => self.parsed::<6>(own, "pose", own.text().unwrap_or_default())?,
            None => [0.0; 6],
        };
        let [x, y, z, angles @ ..] = pose;
        let axis = match self.child(node, "axis").and_then(|axis| self.child(axis, "xyz")) {
            Some(own) => self.axis(own, self.parsed(own, "xyz", own.text().unwrap_or_default())?)?,
            None => [0.0, 0.0, 1.0],
        };
        let places = [(parent, None), (child, Some(Frame::by_angles([x, y, z], angles)))];
        Ok(Loop { name: name.into(), line: self.line(node), kind: self.kind_of_loop(node)?, places, axes: [axis; 2] })
    }
}

const EXPAND: &str = "expand it first: xacro robot.urdf.xacro > robot.urdf";
