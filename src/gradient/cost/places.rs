//! Places of samples among the times of a run.

/// The times of a run, by number, at which samples are: the first sample is at the start, the last one at the end.
#[derive(Debug, Clone, PartialEq)]
pub enum Places {
    /// So many steps between two samples.
    Every(usize),
    /// Places of the samples, one each, increasing.
    At(Vec<usize>),
}

impl Default for Places {
    fn default() -> Self {
        Places::Every(1)
    }
}

impl Places {
    /// Place of a sample.
    pub fn of(&self, sample: usize) -> usize {
        match self {
            Places::Every(steps) => sample * steps,
            Places::At(places) => places[sample],
        }
    }

    /// The sample at a time of the run, if there is one.
    #[inline]
    pub fn sample(&self, index: usize) -> Option<usize> {
        match self {
            Places::Every(1) => Some(index),
            Places::Every(steps) => index.is_multiple_of(*steps).then(|| index / steps),
            Places::At(places) => places.binary_search(&index).ok(),
        }
    }

    /// Places of all samples of a run of so many times.
    pub fn all(&self, times: usize) -> impl Iterator<Item = usize> {
        let count = match self {
            Places::Every(steps) => times.div_ceil(*steps),
            Places::At(places) => places.len(),
        };
        (0..count).map(|sample| self.of(sample))
    }

    /// Divides every step into `parts`.
    pub fn divided(&mut self, parts: usize) {
        match self {
            Places::Every(steps) => *steps *= parts,
            Places::At(places) => places.iter_mut().for_each(|place| *place *= parts),
        }
    }

    /// Steps between two samples, if they are as many everywhere.
    pub fn substeps(&self) -> Option<usize> {
        match self {
            Places::Every(steps) => Some(*steps),
            Places::At(_) => None,
        }
    }
}
