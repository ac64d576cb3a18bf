package deno

import (
	"time"

	"daawo/supabase/internal/functions/child"
)

// watch ends a process that exceeds a limit or is idle, and forgets it when it has ended.
func (r *pool) watch(p *process) {
	defer r.forget(p)
	select {
	case <-p.booted:
	case <-p.exited:
		<-p.booted
	}
	if p.bootErr != nil {
		<-p.exited
		return
	}
	r.mu.Lock()
	delete(r.failed, p.key)
	r.mu.Unlock()
	_, before, _ := child.Usage(p.pid())
	done := 0
	for {
		r.mu.Lock()
		idle := time.Since(p.last)
		calls, ended := p.calls, p.done
		if calls == 0 && idle >= r.Limits.Idle {
			r.retire(p, "early_drop")
		}
		r.mu.Unlock()
		pause := 200 * time.Millisecond
		if calls == 0 && idle > 5*time.Second {
			pause = min(2*time.Second, max(r.Limits.Idle-idle, 10*time.Millisecond))
		}
		memory, processor, known := child.Usage(p.pid())
		if ended != done {
			before, done = processor, ended
		}
		allowed := r.Limits.CPU * time.Duration(min(max(calls, 1), 5)) // concurrent calls share the time
		switch {
		case known && memory > r.Limits.Memory:
			p.log.Error("function exceeds its memory limit and is ended", "memory", memory, "limit", r.Limits.Memory)
			r.end(p, limitMemory)
		case known && processor-before > allowed:
			p.log.Error("function exceeds its limit of processor time and is ended", "limit", r.Limits.CPU)
			r.end(p, limitCPU)
		}
		select {
		case <-p.exited:
			return
		case <-time.After(pause):
		}
	}
}

// end kills a process that has exceeded a limit. It gets no further calls, also while it ends.
func (r *pool) end(p *process, limit string) {
	r.mu.Lock()
	p.retired = true
	if r.current[p.key] == p {
		delete(r.current, p.key)
	}
	r.mu.Unlock()
	p.kill(limit)
}
