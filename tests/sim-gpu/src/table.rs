//! Objects by number, in order of creation. Numbers are not reused; a removed object leaves one word behind.

/// A table of objects. Iteration is by number, so it is the same in equal runs.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Option<Box<T>>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> Table<T> {
    /// The number that the next object will get.
    pub(crate) fn next(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        let number = self.next();
        self.slots.push(Some(Box::new(value)));
        number
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.slots.get(number as usize)?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slots.get_mut(number as usize)?.as_deref_mut()
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        self.slots.get_mut(number as usize)?.take().map(|boxed| *boxed)
    }

    /// Removes what `test` picks, and says which that were, in order.
    pub(crate) fn remove_where(&mut self, test: impl Fn(&T) -> bool) -> Vec<u32> {
        let picked: Vec<_> = self.iter().filter(|(_, value)| test(value)).map(|(number, _)| number).collect();
        for number in &picked {
            self.remove(*number);
        }
        picked
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.slots).filter_map(|(number, slot)| Some((number, slot.as_deref()?)))
    }
}
