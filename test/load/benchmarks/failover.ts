import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { figure } from '../harness/figure.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';
import { LEADERSHIP } from '../harness/tables.js';

const LOOK_MS = 5;

/**
 * Measures the time from the end of the leader to the first cycle of the next one, at the shipped
 * settings.
 */
export const failover: Benchmark = {
  name: 'failover',
  what: 'failover of the leader, killed and stopped in order',
  async run(rig) {
    const site = await rig.newSite();
    const servers = new Servers(rig, site);
    await servers.fill();
    const [killed, stopped]: [number[], number[]] = [[], []];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      killed.push(await servers.loseLeader((leader) => leader.kill()));
      stopped.push(await servers.loseLeader((leader) => leader.stop()));
    }
    return [
      figure({ name: 'failover-killed', unit: 's' }, killed),
      figure({ name: 'failover-stopped', unit: 's' }, stopped),
    ];
  },
};

/** Runs two servers, one of which leads. */
class Servers {
  private readonly running = new Map<string, Program>();
  private started = 0;

  constructor(
    private readonly rig: Rig,
    private readonly site: Site,
  ) {}

  async fill(): Promise<void> {
    while (this.running.size < 2) {
      const id = `server-${++this.started}`;
      this.running.set(id, await this.rig.startServer(this.site, { INSTANCE_ID: id }));
    }
  }

  /**
   * @returns seconds until another server has led a cycle
   */
  async loseLeader(lose: (leader: Program) => Promise<unknown>): Promise<number> {
    await this.fill();
    const [id, leader] = await this.leader();
    const start = performance.now();
    const lost = lose(leader);
    this.running.delete(id);
    await this.untilAnotherLed(id);
    const seconds = (performance.now() - start) / 1_000;
    await lost;
    return seconds;
  }

  private async leader(): Promise<[string, Program]> {
    for (;;) {
      const { instance_id: id } = await this.leadership();
      const leader = id === null ? undefined : this.running.get(id);
      if (id !== null && leader) return [id, leader];
      await delay(LOOK_MS);
    }
  }

  private async untilAnotherLed(former: string): Promise<void> {
    for (;;) {
      const { instance_id: id, has_led: hasLed } = await this.leadership();
      if (id !== former && hasLed) return;
      await delay(LOOK_MS);
    }
  }

  private async leadership(): Promise<{ instance_id: string | null; has_led: boolean }> {
    const { rows } = await this.site.owner.query<{ instance_id: string | null; has_led: boolean }>(
      LEADERSHIP,
    );
    return rows[0] ?? { instance_id: null, has_led: false };
  }
}
