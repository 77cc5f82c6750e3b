import type { Held, Scene } from '../../../libs/work/coordinator/testing/scene.js';

/** An agent that holds a task and sends its last heartbeat now. Two seconds later it is dead. */
export async function aDyingAgent(
  scene: Scene,
  values: Record<string, unknown> = {},
): Promise<Held> {
  const held = await scene.held(values);
  const seconds = 'heartbeat_interval_seconds = 1, stale_threshold_seconds = 2';
  await scene.sql(`UPDATE agents SET ${seconds} WHERE id = $1`, held.agent.id);
  await held.agent.api.post(`/agents/${held.agent.id}/heartbeat`, { status: 'healthy' });
  return held;
}
