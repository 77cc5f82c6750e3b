import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { waitFor } from '../../../test/support/wait-for.js';
import type { SessionStatus, SessionView } from '../sessions/domain/session.js';
import { ContractServer } from './contract-server.js';
import { SECRET, TestGateway } from './gateway-process.js';

/** A gateway with its server, new for each group of tests. */
export class World {
  private parts: { server: ContractServer; gateway: TestGateway } | undefined;

  get server(): ContractServer {
    return this.started.server;
  }

  get gateway(): TestGateway {
    return this.started.gateway;
  }

  async start(env: Record<string, string>): Promise<void> {
    const server = new ContractServer(SECRET);
    await server.start();
    const gateway = new TestGateway({ DROVER_API_URL: server.apiUrl, ...env });
    this.parts = { server, gateway };
    await gateway.start();
  }

  async end(): Promise<void> {
    await this.gateway.dispose();
    await this.server.stop();
  }

  async statusOf(id: string): Promise<SessionStatus> {
    return (await this.gateway.session(id)).status;
  }

  untilStatus(id: string, status: SessionStatus): Promise<SessionView> {
    return waitFor(`${id} to be ${status}`, async () => {
      const session = await this.gateway.session(id);
      return session.status === status && session;
    });
  }

  private get started() {
    if (this.parts === undefined) throw new Error('the world was not started');
    return this.parts;
  }
}

/** One gateway for all tests of the group. */
export function oneGateway(env: Record<string, string> = {}): World {
  const world = new World();
  beforeAll(() => world.start(env));
  afterAll(() => world.end());
  return world;
}

/** A new gateway for each test of the group. */
export function gatewayForEach(env: Record<string, string> = {}): World {
  const world = new World();
  beforeEach(() => world.start(env));
  afterEach(() => world.end());
  return world;
}
