//! Ranks of MPI.

use super::console::tell_error;
use super::ranks::Launch;
use costate_identify::Result;
use costate_identify::work::{Ranks, Team};
use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, MatchedReceiveVec, Source};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// All processes that were started together. An error of MPI ends all of them, as is its habit.
struct World(SimpleCommunicator);

impl Ranks for World {
    fn rank(&self) -> usize {
        self.0.rank() as usize
    }

    fn size(&self) -> usize {
        self.0.size() as usize
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<()> {
        self.0.process_at_rank(to as i32).send(message);
        Ok(())
    }

    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>> {
        Ok(self.0.any_process().immediate_matched_probe().map(|arrived| {
            let (bytes, status) = arrived.matched_receive_vec();
            (status.source_rank() as usize, bytes)
        }))
    }
}

/// Does a command together with all others that were started. Returns its exit code.
pub(super) fn among(launch: &Launch, command: impl FnOnce(&Team<'_>) -> u8) -> u8 {
    // messages go through the main thread
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        tell_error("MPI is at work in this process already; start it again");
        return 2;
    };
    let world = World(universe.world());
    if world.size() != launch.count {
        let problem = format!("but MPI knows of {}", world.size());
        let remedy =
            "start it by the mpirun (or srun --mpi=...) that belongs to the MPI library that it was built with";
        tell_error(&launch.refused(&problem, remedy));
        return 2;
    }
    // whoever panics must not leave the others waiting
    catch_unwind(AssertUnwindSafe(|| command(&Team::new(&world)))).unwrap_or_else(|_| world.0.abort(101))
}
