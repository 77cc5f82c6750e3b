import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { agents } from './benchmarks/agents.js';
import { backlog } from './benchmarks/backlog.js';
import { claimComplete } from './benchmarks/claim-complete.js';
import { claimHolds } from './benchmarks/claim-holds.js';
import { codeWork } from './benchmarks/code-work.js';
import { coordinator } from './benchmarks/coordinator.js';
import { createBatch } from './benchmarks/create-batch.js';
import { createToStart } from './benchmarks/create-to-start.js';
import { create } from './benchmarks/create.js';
import { dispatch } from './benchmarks/dispatch.js';
import { events } from './benchmarks/events.js';
import { heartbeats } from './benchmarks/heartbeats.js';
import { failover } from './benchmarks/failover.js';
import { growth } from './benchmarks/growth.js';
import { lifeOverHttp } from './benchmarks/life-over-http.js';
import { memory } from './benchmarks/memory.js';
import { modelProxy } from './benchmarks/model-proxy.js';
import { nodeVersions } from './benchmarks/node-versions.js';
import { peers } from './benchmarks/peers.js';
import { recovery } from './benchmarks/recovery.js';
import { registration } from './benchmarks/registration.js';
import { relay } from './benchmarks/relay.js';
import { snapshot } from './benchmarks/snapshot.js';
import { streams } from './benchmarks/streams.js';
import { usageHistory } from './benchmarks/usage-history.js';
import { usageReports } from './benchmarks/usage-reports.js';
import { valkeyDown } from './benchmarks/valkey-down.js';
import { webhooks } from './benchmarks/webhooks.js';
import type { Benchmark } from './harness/benchmark.js';
import type { Measured } from './harness/figure.js';
import { Rig } from './harness/rig.js';
import { plain, table } from './report.js';

const ALL: readonly Benchmark[] = [
  heartbeats,
  create,
  createBatch,
  claimComplete,
  claimHolds,
  lifeOverHttp,
  dispatch,
  createToStart,
  registration,
  relay,
  backlog,
  snapshot,
  coordinator,
  growth,
  recovery,
  failover,
  valkeyDown,
  memory,
  nodeVersions,
  streams,
  events,
  usageHistory,
  usageReports,
  webhooks,
  modelProxy,
  agents,
  codeWork,
  peers,
];

const USAGE = `npm run bench -- [--only NAME] [--json FILE] [--repeats N]
NAME is one of: ${ALL.map(({ name }) => name).join(', ')}`;

interface Wish {
  benchmarks: readonly Benchmark[];
  json: string | undefined;
  repeats: number;
}

function readWish(): Wish {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      json: { type: 'string' },
      repeats: { type: 'string', default: '3' },
    },
  });
  const { only, json } = values;
  const benchmarks = ALL.filter(({ name }) => only === undefined || name === only);
  if (benchmarks.length === 0) throw new Error(`There is no benchmark ${only}.`);
  const repeats = Number(values.repeats);
  if (!Number.isInteger(repeats) || repeats < 1) throw new Error('--repeats is a whole number.');
  return { benchmarks, json, repeats };
}

async function measure(rig: Rig, benchmarks: readonly Benchmark[]): Promise<Measured[]> {
  const figures: Measured[] = [];
  for (const benchmark of benchmarks) {
    rig.note(benchmark.what);
    figures.push(...(await benchmark.run(rig)));
    await rig.clear();
  }
  return figures;
}

async function main({ benchmarks, json, repeats }: Wish): Promise<void> {
  const note = (line: string): void => void process.stderr.write(`${line} ...\n`);
  const rig = await Rig.start(repeats, note);
  try {
    const about = `${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.versions.node}, ${await rig.version()}`;
    const figures = await measure(rig, benchmarks);
    process.stdout.write(`${about}; ${repeats} repeats\n${table(figures)}\n`);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(figures.map(plain), null, 2)}\n`);
  } finally {
    await rig.stop();
  }
}

let wish: Wish;
try {
  wish = readWish();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
  process.exit(2);
}
await main(wish);
