//! The trace's calls other than submissions: objects, memory, deaths.

use mgpu_sim_gpu::*;

use super::{Lane, Run};

impl Run {
    pub(super) fn connect(&mut self) {
        let now = self.model.now();
        let process = self.model.connect(now, 1000 + u32::try_from(self.processes.len()).unwrap(), "trace");
        self.processes.push(process);
        self.pools.extend(self.model.create_pool(now, process, DeviceId(0)).ok().map(|pool| (process, pool)));
        for _ in 0..=self.draw.below(2) {
            let device = DeviceId(u32::try_from(self.draw.below(2)).unwrap());
            let Ok(context) = self.model.create_context(now, process, device) else { continue };
            self.contexts.push((process, context));
            let stream = self.model.legacy_stream(context).unwrap();
            self.lanes.push(Lane { stream, context, kind: None, tail: None });
            let module = self.model.load_module(now, context, 1 << 20).unwrap();
            for name in ["plain", "spin_200us", "spin_3ms"] {
                self.functions.push((context, self.model.create_function(now, module, name).unwrap()));
            }
            if self.draw.below(4) == 0 {
                self.functions.push((context, self.model.create_function(now, module, "fault_30us").unwrap()));
            }
        }
        self.event();
        self.lane();
    }

    pub(super) fn lane(&mut self) {
        let Some((_, context)) = self.draw.pick(&self.contexts).copied() else { return };
        let kind = [StreamKind::Blocking, StreamKind::NonBlocking][self.draw.below(2)];
        let priority = -i32::try_from(self.draw.below(3)).unwrap();
        if let Ok(stream) = self.model.create_stream(self.model.now(), context, kind, priority) {
            self.lanes.push(Lane { stream, context, kind: Some(kind), tail: None });
        }
    }

    pub(super) fn event(&mut self) {
        let Some(process) = self.draw.pick(&self.processes).copied() else { return };
        if let Ok(event) = self.model.create_event(self.model.now(), process) {
            self.events.push((process, event, None));
        }
    }

    pub(super) fn graph(&mut self) {
        let Some((_, context)) = self.draw.pick(&self.contexts).copied() else { return };
        let mut nodes = Vec::new();
        for index in 0..self.draw.below(8) {
            let op = match self.simple_op(context) {
                Op::EventRecord(_) => Op::Marker,
                op => op,
            };
            let after = (0..index).filter(|_| self.draw.below(3) == 0).map(|i| u32::try_from(i).unwrap()).collect();
            nodes.push(Node { op, after });
        }
        if let Ok(graph) = self.model.create_graph(self.model.now(), context, nodes) {
            self.graphs.push((context, graph, None));
        }
    }

    pub(super) fn memory(&mut self) {
        let now = self.model.now();
        let bytes = [1, 1 << 10, 1 << 20, 3 << 20, 1 << 29][self.draw.below(5)];
        let context = self.draw.pick(&self.contexts).map(|(_, context)| *context);
        let pool = self.draw.pick(&self.pools).copied();
        let (lane, index) = (self.draw.below(self.lanes.len()), self.draw.below(self.plain.len()));
        match (self.draw.below(7), context, pool) {
            (0 | 1, Some(context), _) => self.plain.extend(self.model.allocate(now, context, bytes)),
            (2, Some(context), _) => self.plain.extend(self.model.allocate_managed(now, context, bytes)),
            (3, _, Some((process, _))) => {
                self.plain.extend(self.model.allocate_physical(now, process, DeviceId(1), bytes));
            }
            (4, _, Some((_, pool))) if !self.lanes.is_empty() => {
                let stream = self.lanes[lane].stream;
                self.pooled.extend(self.model.allocate_from_pool(now, pool, stream, bytes));
            }
            (5, Some(context), _) => self.model.note_synchronize(now, context),
            _ if index < self.plain.len() => {
                let _ = self.model.free(now, self.plain.swap_remove(index));
            }
            _ => {}
        }
        self.take();
    }

    pub(super) fn other_calls(&mut self) {
        let now = self.model.now();
        if let Some((_, pool)) = self.draw.pick(&self.pools).copied() {
            let _ = self.model.set_release_threshold(now, pool, 1 << 26);
            let _ = self.model.trim_pool(now, pool, 1 << 25);
        }
        let graph = self.draw.below(self.graphs.len());
        if graph < self.graphs.len() {
            let (_, graph, _) = self.graphs.swap_remove(graph);
            let _ = self.model.destroy_graph(now, graph);
        }
        self.take();
    }

    pub(super) fn close(&mut self) {
        let index = self.draw.below(self.processes.len());
        if index >= self.processes.len() {
            return;
        }
        let process = self.processes.swap_remove(index);
        let held = self.draw.below(2) == 0;
        if held {
            self.held.insert(process);
        }
        self.model.close(self.model.now(), process, held);
        self.take();
        let ended: Vec<_> = self.contexts.iter().filter(|(p, _)| *p == process).map(|(_, c)| *c).collect();
        ended.into_iter().for_each(|context| self.end_context(context));
    }

    pub(super) fn destroy_context(&mut self) {
        let Some((_, context)) = self.draw.pick(&self.contexts).copied() else { return };
        self.model.destroy_context(self.model.now(), context).unwrap();
        self.take();
        self.end_context(context);
    }

    pub(super) fn destroy_lane(&mut self) {
        let index = self.draw.below(self.lanes.len());
        let Some(lane) = self.lanes.get(index).filter(|lane| lane.kind.is_some()) else { return };
        // It stays in the book: its work still counts for the barrier.
        self.model.destroy_stream(self.model.now(), lane.stream).ok();
    }

    pub(super) fn release(&mut self) {
        if let Some(process) = self.held.pop_first() {
            self.model.release_device_file(self.model.now(), process);
            self.take();
        }
    }
}
