//! Files that include others: scopes of names, and frames in which their parts are placed.

use super::{Declares, Properties};
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
}

impl<M: Clone> Frame<M> {
    /// That of the file that includes others.
    pub fn of_root(ground: M) -> Self {
        let (ground_transform, world) = (Transform::identity(), Transform::identity());
        Frame { prefix: String::new(), member: ground, ground: ground_transform, world, motion: Start::of_ground() }
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
        Ok(Frame { prefix, member, world: pose.after(&ground), ground, motion: start })
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

    /// Refuses what cannot be placed.
    pub fn refuse_placed(&self, own: &Section<'_>, what: &str, is_fit: bool) -> Result<()> {
        match is_fit {
            true => Ok(()),
            false => {
                let problem = format!("the file is included, and {what}");
                let error = Error::invalid(own.place(), problem, "let the file that includes it have this part");
                Err(own.at("", error))
            }
        }
    }
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
    let mut scopes = std::mem::take(&mut parts.own().reading.included);
    let located: Vec<_> =
        scopes.iter().map(|scope| (scope.file.clone(), scope.table.clone(), scope.lines.clone())).collect();
    let section = |k: usize| match k.checked_sub(1) {
        None => root.clone(),
        Some(k) => Section { file: &located[k].0, keys: Vec::new(), table: &located[k].1 },
    };
    let locate =
        |k: usize, error: Error| k.checked_sub(1).map_or_else(|| error.clone(), |k| located[k].2.locate(error.clone()));
    for (number, (kind, read)) in kinds.iter().enumerate() {
        for k in 0..=scopes.len() {
            if let (0, Some(scope)) = (number, k.checked_sub(1).map(|k| &scopes[k])) {
                let (parent, name, prefix) = (scope.parent, scope.name.clone(), scope.prefix.clone());
                if let Some(scope) = parent.checked_sub(1).map(|k| &mut scopes[k]) {
                    parts.own().reading.exchange(scope);
                }
                let own =
                    section(parent).section("include").and_then(|all| all.map_or(Ok(None), |all| all.section(&name)));
                let placed = own.and_then(|own| own.map_or(Ok(()), |own| parts.place(parent, &own, prefix)));
                if let Some(scope) = parent.checked_sub(1).map(|k| &mut scopes[k]) {
                    parts.own().reading.exchange(scope);
                }
                placed.map_err(|error| locate(parent, error))?;
            }
            parts.enter(k);
            if let Some(scope) = k.checked_sub(1).map(|k| &mut scopes[k]) {
                parts.own().reading.exchange(scope);
            }
            let own = section(k);
            let found = parts.own().reading.rows(&own, kind).and_then(|rows| {
                let Some((section, names)) = rows else { return Ok(()) };
                names.iter().try_for_each(|name| match section.section(name)? {
                    Some(own) => read(parts, name, &own, kind),
                    None => Ok(()),
                })
            });
            if let Some(scope) = k.checked_sub(1).map(|k| &mut scopes[k]) {
                parts.own().reading.exchange(scope);
            }
            found.map_err(|error| locate(k, error))?;
        }
    }
    parts.enter(0);
    Ok(())
}
