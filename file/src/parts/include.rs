//! Files that include others: scopes of names, and frames in which their parts are placed.

use super::{Declares, Properties};
use crate::reader::{File, Scope};
use costate::value::Value;
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};

/// A turn, after a mirror, and a displacement: p -> offset + R S p.
#[derive(Clone)]
pub(super) struct Transform {
    pub offset: [Value; 3],
    /// Rows of R.
    pub rotation: [[f64; 3]; 3],
    /// The angle of R in the plane.
    pub angle: f64,
    /// The diagonal of S.
    pub mirror: [f64; 3],
}

const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// The matrix of a turn about z.
pub(super) fn turn_in_plane(angle: f64) -> [[f64; 3]; 3] {
    let (sin, cos) = angle.sin_cos();
    [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]
}

/// A matrix times a vector; what is zero leaves no trace.
fn times(matrix: &[[f64; 3]; 3], v: [Value; 3]) -> [Value; 3] {
    if *matrix == IDENTITY {
        return v;
    }
    matrix.map(|row| {
        let parts = row.iter().zip(v).filter(|(factor, _)| **factor != 0.0).map(|(factor, value)| value * *factor);
        parts.reduce(|sum, part| sum + part).unwrap_or_else(|| 0.0.into())
    })
}

fn signs(mirror: [f64; 3], v: [Value; 3]) -> [Value; 3] {
    std::array::from_fn(|k| if mirror[k] < 0.0 { -v[k] } else { v[k] })
}

pub(super) fn sum(a: [Value; 3], b: [Value; 3]) -> [Value; 3] {
    std::array::from_fn(|k| if b[k].is_zero() { a[k] } else { a[k] + b[k] })
}

impl Transform {
    pub fn identity() -> Self {
        Transform { offset: [Value::from(0.0); 3], rotation: IDENTITY, angle: 0.0, mirror: [1.0; 3] }
    }

    /// A turn in the plane, after a mirror.
    pub fn in_plane(offset: [Value; 2], angle: f64, mirror: [f64; 3]) -> Self {
        let [x, y] = offset;
        Transform { offset: [x, y, 0.0.into()], rotation: turn_in_plane(angle), angle, mirror }
    }

    pub fn is_mirrored(&self) -> bool {
        self.mirror.iter().product::<f64>() < 0.0
    }

    /// -1 where it is mirrored: what becomes of angles in the plane.
    pub fn sign(&self) -> f64 {
        self.mirror.iter().product()
    }

    pub fn is_turned(&self) -> bool {
        self.rotation != IDENTITY
    }

    /// The mirror alone.
    pub fn mirror_alone(&self) -> Self {
        Transform { mirror: self.mirror, ..Transform::identity() }
    }

    pub fn point(&self, p: [Value; 3]) -> [Value; 3] {
        sum(self.vector(p), self.offset)
    }

    pub fn vector(&self, v: [Value; 3]) -> [Value; 3] {
        times(&self.rotation, signs(self.mirror, v))
    }

    /// An axis about which something turns, and the like.
    pub fn turning(&self, v: [Value; 3]) -> [Value; 3] {
        let v = self.vector(v);
        if self.is_mirrored() { v.map(|component| -component) } else { v }
    }

    /// One of the axes (0 for x) of a triad that stays one of right hands.
    pub fn axis(&self, k: usize, v: [Value; 3]) -> [Value; 3] {
        let v = self.vector(v);
        if self.mirror[k] < 0.0 { v.map(|component| -component) } else { v }
    }

    /// `inner`, and then this.
    pub fn after(&self, inner: &Transform) -> Self {
        let mirrored: [[f64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| self.mirror[i] * inner.rotation[i][j] * self.mirror[j]));
        let rotation = std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..3).map(|k| self.rotation[i][k] * mirrored[k][j]).sum::<f64>())
        });
        Transform {
            offset: self.point(inner.offset),
            rotation: if inner.rotation == IDENTITY { self.rotation } else { rotation },
            angle: self.angle + self.sign() * inner.angle,
            mirror: std::array::from_fn(|k| self.mirror[k] * inner.mirror[k]),
        }
    }
}

/// How a member begins, in the world.
#[derive(Clone)]
pub(super) struct Start {
    pub at: [Value; 3],
    /// Rotation and angle; none where these depend on parameters.
    pub turned: Option<([[f64; 3]; 3], f64)>,
    pub moving: [Value; 3],
    /// Angular velocity; none where it depends on parameters.
    pub spinning: Option<[f64; 3]>,
}

impl Start {
    pub fn of_ground() -> Self {
        let zero = [Value::from(0.0); 3];
        Start { at: zero, turned: Some((IDENTITY, 0.0)), moving: zero, spinning: Some([0.0; 3]) }
    }

    /// The velocity of a point that moves along.
    pub fn velocity(&self, point: [Value; 3]) -> [Value; 3] {
        let [x, y, z] = self.spinning.unwrap_or_default();
        let arm = std::array::from_fn(|k| if self.at[k].is_zero() { point[k] } else { point[k] - self.at[k] });
        let across = times(&[[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], arm);
        sum(self.moving, across)
    }
}

/// The numbers of values that are none but that.
pub(super) fn constants<const N: usize>(values: [Value; N]) -> Option<[f64; N]> {
    values.iter().all(Value::is_constant).then(|| values.map(|value| value.evaluate(&[])))
}

/// The frame of a file that is included: what its ground is, and where.
#[derive(Clone)]
pub(super) struct Frame<M> {
    /// What its names begin with.
    pub prefix: String,
    /// The member that its ground is.
    pub member: M,
    /// Of places on its ground, in that member's axes.
    pub ground: Transform,
    /// Of the world at the start.
    pub world: Transform,
    /// The motion of its ground at the start.
    pub motion: Start,
    /// True if its ground is that of the world, wherever it is placed there.
    on_ground: bool,
}

impl<M: Clone> Frame<M> {
    /// That of the file that includes others.
    pub fn of_root(ground: M) -> Self {
        let motion = Start::of_ground();
        let (prefix, world) = (String::new(), Transform::identity());
        Frame { prefix, member: ground, ground: world.clone(), world, motion, on_ground: true }
    }

    /// That of a file which is included in one of this frame: `on` the ground, or on a member that begins somewhere.
    pub fn of_included(
        &self,
        own: &Section<'_>,
        prefix: String,
        on: Option<(M, Start)>,
        placed: &Transform,
    ) -> Result<Self> {
        let Some((member, start)) = on else {
            let (ground, world) = (self.ground.after(placed), self.world.after(placed));
            return Ok(Frame { prefix, ground, world, ..self.clone() });
        };
        let (Some((rotation, angle)), Some(_)) = (start.turned, start.spinning) else {
            let problem = "how that is turned at the start depends on parameters";
            return Err(own.wrong("on", problem, "give its turn and its angular velocity at the start by numbers"));
        };
        let ground = self.ground.mirror_alone().after(placed);
        let pose = Transform { offset: start.at, rotation, angle, mirror: [1.0; 3] };
        Ok(Frame { prefix, member, world: pose.after(&ground), ground, motion: start, on_ground: false })
    }

    /// Position and velocity in the world of a point that moves as the file says.
    pub fn begins(&self, at: [Value; 3], moving: [Value; 3]) -> ([Value; 3], [Value; 3]) {
        let at = self.world.point(at);
        (at, sum(self.world.vector(moving), self.motion.velocity(at)))
    }

    /// Angular velocity in the world of what turns as the file says.
    pub fn spins(&self, spinning: [Value; 3]) -> [Value; 3] {
        sum(self.world.turning(spinning), self.motion.spinning.unwrap_or_default().map(Value::from))
    }

    /// Refuses what is meant in the world where that is not what the file says it is.
    pub fn refuse_unless_world(&self, own: &Section<'_>, what: &str) -> Result<()> {
        let world = &self.world;
        let is_there = constants(world.offset) == Some([0.0; 3]) && !world.is_turned() && world.mirror == [1.0; 3];
        if self.on_ground && is_there { Ok(()) } else { Err(cannot_be_placed(own, what)) }
    }
}

/// The error of a part that a file cannot have where it is placed.
pub(super) fn cannot_be_placed(own: &Section<'_>, what: &str) -> Error {
    let problem = format!("the file is included, and {what}");
    own.at("", Error::invalid(own.place(), problem, "let the file that includes it have this part"))
}

/// The members of a mechanism, as the file whose parts are read names them.
pub(super) struct Members<M> {
    members: Vec<(String, M)>,
    /// How they begin.
    starts: Vec<(String, Start)>,
    /// Frames of all files, and that of the one whose parts are read.
    frames: Vec<Frame<M>>,
    pub frame: Frame<M>,
}

impl<M: Clone> Members<M> {
    pub fn of_root(ground: M) -> Self {
        let frame = Frame::of_root(ground);
        Members { members: Vec::new(), starts: Vec::new(), frames: vec![frame.clone()], frame }
    }

    pub fn enter(&mut self, number: usize) {
        self.frame = self.frames[number].clone();
    }

    /// Places a file that the current one includes.
    pub fn place(&mut self, own: &Section<'_>, prefix: String, placed: &Transform) -> Result<()> {
        let on = match own.text("on")?.as_deref() {
            None | Some("ground") => None,
            Some(name) => {
                let full = self.full(name);
                let member = self.member(own, "on")?;
                let start = self.starts.iter().find(|(known, _)| *known == full);
                let (_, start) = start.ok_or_else(|| own.wrong("on", "it is no body", "name a body, or `ground`"))?;
                Some((member, start.clone()))
            }
        };
        self.frames.push(self.frame.of_included(own, prefix, on, placed)?);
        Ok(())
    }

    /// The name of a part of the file that is read.
    pub fn full(&self, name: &str) -> String {
        format!("{}{name}", self.frame.prefix)
    }

    /// Members that the file may name.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let own = self.members.iter().filter_map(|(name, _)| name.strip_prefix(&self.frame.prefix));
        std::iter::once("ground".to_string()).chain(own.map(String::from))
    }

    pub fn find(&self, name: &str) -> Option<M> {
        if name == "ground" {
            return Some(self.frame.member.clone());
        }
        let known = self.members.iter().find(|(own, _)| own.strip_prefix(&self.frame.prefix) == Some(name));
        known.map(|(_, member)| member.clone())
    }

    /// The member that a key names.
    pub fn member(&self, own: &Section<'_>, key: &str) -> Result<M> {
        let missing = || own.wrong(key, "it is missing", "name a body, a point or `ground`");
        let name = own.text(key)?.ok_or_else(missing)?;
        self.find(&name).ok_or_else(|| own.at(key, Error::unknown("member", &name, own.place(), self.names())))
    }

    /// A member that is new, by its full name.
    pub fn add(&mut self, own: &Section<'_>, name: &str, member: M, start: Start) -> Result<()> {
        if name == "ground" || self.members.iter().any(|(known, _)| known == name) {
            let problem = format!("`{name}` is there already");
            return Err(own.at("", Error::invalid(own.place(), problem, "give each member its own name")));
        }
        self.members.push((name.to_string(), member));
        self.starts.push((name.to_string(), start));
        Ok(())
    }
}

/// A mechanism that is read part by part, from a file and those that it includes.
pub(super) trait Builder<'r>: Sized {
    type Mechanism: Declares;
    fn own(&mut self) -> &mut Properties<'r, Self::Mechanism>;
    /// Finds the frame of a file that one of a frame includes.
    fn place(&mut self, parent: usize, own: &Section<'_>, prefix: String) -> Result<()>;
    /// Takes the frame of a file.
    fn enter(&mut self, number: usize);
}

/// The reader of a kind of parts: name, properties and kind.
pub(super) type Reader<P> = fn(&mut P, &str, &Section<'_>, &str) -> Result<()>;

/// Reads all parts, those of the first kinds first: members before what they name.
pub(super) fn read_all<'r, P: Builder<'r>>(
    parts: &mut P,
    root: &Section<'_>,
    kinds: &[(&str, Reader<P>)],
) -> Result<()> {
    // what formulas mean in each file changes hands; tables and lines stay where errors and sections find them
    let mut scopes = std::mem::take(&mut parts.own().reading.included);
    let files: Vec<_> = scopes.iter().map(Scope::file).collect();
    let section = |k: usize| match k.checked_sub(1) {
        None => root.clone(),
        Some(k) => Section { file: &files[k].path, keys: Vec::new(), table: &files[k].table },
    };
    let mut within = |parts: &mut P, k: usize, work: &mut dyn FnMut(&mut P, &Section<'_>) -> Result<()>| {
        let Some(number) = k.checked_sub(1) else { return work(parts, root) };
        parts.own().reading.exchange(&mut scopes[number]);
        let done = work(parts, &section(k));
        parts.own().reading.exchange(&mut scopes[number]);
        done.map_err(|error| files[number].lines.locate(error))
    };
    for (number, (kind, read)) in kinds.iter().enumerate() {
        for k in 0..=files.len() {
            if let (0, Some(k)) = (number, k.checked_sub(1)) {
                let File { parent, name, prefix, .. } = &*files[k];
                within(parts, *parent, &mut |parts, section| {
                    let Some(all) = section.section("include")? else { return Ok(()) };
                    all.section(name)?.map_or(Ok(()), |own| parts.place(*parent, &own, prefix.clone()))
                })?;
            }
            parts.enter(k);
            within(parts, k, &mut |parts, section| {
                let Some((section, names)) = parts.own().reading.rows(section, kind)? else { return Ok(()) };
                names.iter().try_for_each(|name| match section.section(name)? {
                    Some(own) => read(parts, name, &own, kind),
                    None => Ok(()),
                })
            })?;
        }
    }
    parts.enter(0);
    Ok(())
}
