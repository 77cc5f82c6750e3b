import { newId } from '#lib/kernel';
import { StandInGateway } from '../../../libs/work/runs/sessions/testing/stand-in-gateway.js';
import { apiClient } from '../../support/api-client.js';
import type { TestFleet } from '../../support/fleet.js';

const HOUR = 3_600;
const ROOM = 1_000;

/** A push agent, and a gateway that lists its sessions but runs nothing. */
export class PushedWork {
  private constructor(
    private readonly fleet: TestFleet,
    private readonly gateway: StandInGateway,
    private readonly agentId: string,
  ) {}

  /** Its agent has the capability `push`. */
  static async start(fleet: TestFleet, gateway: StandInGateway): Promise<PushedWork> {
    const agentId = newId();
    const { status } = await fleet.api.put(`/agents/${agentId}`, {
      name: 'Pushed',
      mode: 'push',
      capabilities: ['push', 'command'],
      maxConcurrentTasks: ROOM,
      heartbeatIntervalSeconds: 1,
      staleThresholdSeconds: HOUR,
      command: [process.execPath, '-v'],
    });
    if (status !== 201) throw new Error(`not registered: ${status}`);
    return new PushedWork(fleet, gateway, agentId);
  }

  /** The gateway reports that it is present and has room. */
  async heartbeat(): Promise<void> {
    const { gateway } = this;
    const sessions = [...gateway.sessions].map(([runId, { sessionKey }]) => ({
      runId,
      sessionKey,
      status: 'RUNNING',
    }));
    const authorization = `Bearer ${gateway.token()}`;
    const api = apiClient(`http://127.0.0.1:${this.fleet.port}`, { authorization });
    const { status } = await api.post('/gateway/heartbeat', {
      ...gateway.nextHeartbeat(),
      capacity: ROOM,
      running: sessions.length,
      queued: 0,
      sessions,
    });
    if (status !== 200) throw new Error(`the heartbeat was refused: ${status}`);
  }

  /** Its agent has gone, so others get its tasks. */
  async end(): Promise<void> {
    await this.fleet.api.post(`/agents/${this.agentId}/terminate`, { graceful: false });
  }
}
