//! Many short lists in one piece of memory.

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// Lists of numbers, one behind the other, which never grow beyond the room that they begin with.
pub(super) struct Lists {
    numbers: Vec<u32>,
    begin: Vec<u32>,
    length: Vec<u32>,
}

impl Lists {
    /// Empty lists with room for so many numbers each.
    pub fn with_room(room: &[u32]) -> Self {
        let mut all = 0;
        let begin = room.iter().map(|room| {
            let begin = all;
            all += room;
            begin
        });
        let begin = begin.collect();
        Lists { numbers: vec![0; all as usize], begin, length: vec![0; room.len()] }
    }

    pub fn count(&self) -> usize {
        self.begin.len()
    }

    pub fn list(&self, i: usize) -> &[u32] {
        let begin = self.begin[i] as usize;
        &self.numbers[begin..begin + self.length[i] as usize]
    }

    pub fn lengths(&self) -> &[u32] {
        &self.length
    }

    pub fn push(&mut self, i: usize, number: u32) {
        let place = self.begin[i] + self.length[i];
        debug_assert!(self.begin.get(i + 1).is_none_or(|end| place < *end), "a list outgrows its room");
        self.numbers[place as usize] = number;
        self.length[i] += 1;
    }

    pub fn clear(&mut self, i: usize) {
        self.length[i] = 0;
    }

    /// Keeps some numbers of a list, in their order.
    pub fn retain(&mut self, i: usize, mut keep: impl FnMut(u32) -> bool) {
        let begin = self.begin[i] as usize;
        let mut kept = begin;
        for place in begin..begin + self.length[i] as usize {
            let number = self.numbers[place];
            if keep(number) {
                self.numbers[kept] = number;
                kept += 1;
            }
        }
        self.length[i] = (kept - begin) as u32;
    }

    /// Sorts each list, and keeps equal numbers once.
    pub fn sort_and_dedup(&mut self) {
        for i in 0..self.count() {
            let (begin, length) = (self.begin[i] as usize, self.length[i] as usize);
            self.numbers[begin..begin + length].sort_unstable();
            let mut last = NONE;
            self.retain(i, |number| std::mem::replace(&mut last, number) != number);
        }
    }
}
