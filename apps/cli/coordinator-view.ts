import type { components } from '#lib/api-client';
import type { Output } from './output/output.js';

type Status = components['schemas']['CoordinatorStatus'];

export function showCoordinator(out: Output, status: Status): void {
  const { stats, queue, lastCycle } = status;
  const queued = Object.entries(queue).map(([word, count]) => `${count} ${word}`);
  out.record(status, [
    ['coordinator', status.active ? `led by ${status.instanceId}` : 'no leader'],
    ['epoch', status.epoch],
    ['cycles', status.cycleCount],
    ['last heartbeat', status.lastHeartbeat],
    ['queue', queued.join(', ')],
    ['tasks', `${stats.pendingTasks} pending, ${stats.runningTasks} running`],
    ['agents', `${stats.healthyAgents} healthy, ${stats.staleAgents} stale`],
    ['last cycle', lastCycle && `${lastCycle.startedAt}, ${lastCycle.durationMs} ms`],
  ]);
}
