import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentSite } from '../agents/agent-site.js';
import { type HostMemory, hostMemory } from '../agents/host-memory.js';
import type { Benchmark } from '../harness/benchmark.js';
import { figure, median, quantile } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';

const STARTS = 6;
/** The share and the time that a session can take beside the bare program. */
const SHARE = 1.15;
const MORE_MS = 50;
const LINES = 40;
const SESSIONS = 8;
const SETTLE_MS = 3_000;

/**
 * Measures sessions of a real coding agent, Codex, in a sandbox: their start beside the program
 * alone, a resumed one beside a new one, the delay of a line of the transcript to the dashboard, and
 * the memory of their host.
 */
export const agents: Benchmark = {
  name: 'agents',
  what: 'sessions of a coding agent: their start, resumption, transcript and memory of the host',
  async run(rig) {
    const folder = await mkdtemp(join(tmpdir(), 'drover-agents-'));
    const site = await AgentSite.open(rig, folder, SESSIONS + 1);
    try {
      // The first session loads what all share.
      await site.until((await site.startSession(site.newMark())).id, 'COMPLETED');
      const starts = await inTurns(rig.repeats, {
        bare: () => medianOf(() => site.startBare(site.newMark())),
        fresh: () => medianOf(async () => (await finished(site)).ms),
        resumed: () => medianOf(() => resumed(site)),
      });
      const lines: number[][] = [];
      const memory: HostMemory[] = [];
      for (let repeat = 0; repeat < rig.repeats; repeat++) {
        lines.push(await transcriptDelays(site));
        memory.push(await memoryPerSession(site));
      }
      const { bare, fresh, resumed: again } = starts;
      const over = fresh.map((ms, index) => ms - SHARE * (bare[index] ?? 0));
      const goal = { atMost: MORE_MS };
      const line = (share: number) => lines.map((delays) => quantile(delays, share));
      return [
        figure({ name: 'agent-start', unit: 'ms' }, fresh, bare),
        figure({ name: `agent-start-above-${SHARE}-of-bare`, unit: 'ms', goal }, over),
        figure({ name: 'agent-resumed-start', unit: 'ms' }, again, fresh),
        figure({ name: 'transcript-line-p50', unit: 'ms', goal: { atMost: 300 } }, line(0.5)),
        figure({ name: 'transcript-line-p99', unit: 'ms' }, line(0.99)),
        figure(
          { name: 'host-memory-per-session', unit: 'MB', goal: { atMost: 5 } },
          memory.map(({ host, sandboxes }) => host + sandboxes),
        ),
        figure(
          { name: 'host-memory-per-session-without-sandbox', unit: 'MB' },
          memory.map(({ host }) => host),
        ),
      ];
    } finally {
      await site.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function medianOf(one: () => Promise<number>): Promise<number> {
  const all: number[] = [];
  while (all.length < STARTS) all.push(await one());
  return median(all);
}

async function finished(site: AgentSite): Promise<{ id: string; ms: number }> {
  const session = await site.startSession(site.newMark());
  await site.until(session.id, 'COMPLETED');
  return session;
}

async function resumed(site: AgentSite): Promise<number> {
  const { id } = await finished(site);
  const session = await site.resumeSession(id, site.newMark());
  await site.until(session.id, 'COMPLETED');
  return session.ms;
}

/** The milliseconds from the model's answer with a message to its line in a stream of the log. */
async function transcriptDelays(site: AgentSite): Promise<number[]> {
  const now = () => performance.timeOrigin + performance.now();
  const turns = Array.from({ length: LINES }, () => ({ calls: [{ run: 'sleep 0.4' }] }));
  const { id } = await site.startSession(
    site.newMark(() => turns.map((turn) => ({ ...turn, text: `@${now()}@` }))),
  );
  const delays: number[] = [];
  for await (const { event, message, newStatus } of site.log(id)) {
    const sent = event === 'agent_message' && /^@([\d.]+)@$/.exec(message ?? '')?.[1];
    if (sent) delays.push(now() - Number(sent));
    if (newStatus === 'COMPLETED' || newStatus === 'FAILED') break;
  }
  if (delays.length < LINES) throw new Error(`Only ${delays.length} lines arrived`);
  return delays;
}

/** The megabytes of the host for each of some sessions whose model does not answer. */
async function memoryPerSession(site: AgentSite): Promise<HostMemory> {
  const look = async () => {
    await delay(SETTLE_MS);
    return hostMemory(site.worker.pid, '/codex');
  };
  const before = await look();
  const starting = Array.from({ length: SESSIONS }, () =>
    site.startSession(site.newMark(() => [{ hangAfter: 1 }])),
  );
  const sessions = await Promise.all(starting);
  const after = await look();
  await Promise.all(sessions.map(({ id }) => site.cancel(id)));
  return {
    host: (after.host - before.host) / SESSIONS,
    sandboxes: (after.sandboxes - before.sandboxes) / SESSIONS,
  };
}
