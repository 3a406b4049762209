//! `mpirun -n 8 costate identify ..`: processes that were started together divide one command. Rank 0 alone writes and speaks.

#[cfg(feature = "mpi")]
pub(super) use super::mpi::among;

/// Variables in which launchers say how many processes they have started: Open MPI; MPICH, Intel MPI and Slurm's PMI; MVAPICH; Slurm's `srun`.
const COUNTS: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Launch of this process together with others: the variable that says so, and how many there are.
pub(super) struct Launch {
    name: &'static str,
    pub count: usize,
}

impl Launch {
    /// `None` where a process is alone.
    pub(super) fn found() -> Option<Self> {
        COUNTS.iter().find_map(|&name| {
            let count = std::env::var(name).ok()?.trim().parse().ok()?;
            (count > 1).then_some(Launch { name, count })
        })
    }

    /// The error where processes cannot work together.
    pub(super) fn refused(&self, problem: &str, remedy: &str) -> String {
        let Launch { name, count } = self;
        format!(
            "it was started {count} times at once ({name} = {count}), {problem}; {remedy}, or unset {name} for {count} runs that have nothing to \
             do with each other"
        )
    }
}

/// Without MPI there is no more than one.
#[cfg(not(feature = "mpi"))]
pub(super) fn among(launch: &Launch, _command: impl FnOnce(&costate_identify::work::Team<'_>) -> u8) -> u8 {
    let problem = "and was built without MPI: each would do the same work, and write the same files";
    let remedy = "build it with `cargo build --release --features costate/mpi` (which needs an MPI library and libclang, see docs/certainty.md)";
    super::console::tell_error(&launch.refused(problem, remedy));
    2
}
