import { writeFileSync } from 'node:fs';
import type { Outcome } from '#lib/invariants';
import type { AgentStory } from './agent/play.js';
import type { NoAgent } from './agent/prepare.js';
import type { BudgetStory } from './budget.js';
import type { Speed } from './measure.js';
import type { ResumeProof } from './proof.js';
import { HEARTBEAT_SECONDS, STALE_SECONDS } from './settings.js';
import type { Recovery } from './timeline.js';

/** The findings of a run of the demo. */
export interface Findings {
  tasks: { total: number; completed: number };
  jobSeconds: number;
  speed: Speed;
  killed: { worker: string; task: string; atPercent: number; finishedBy: string };
  recovery: Recovery;
  resumed: ResumeProof;
  budget: BudgetStory;
  agent: AgentStory | NoAgent;
  invariants: Outcome[];
}

/** Lists broken expectations as sentences. An empty list means success. */
export function complaintsOf(findings: Findings): string[] {
  const { tasks, killed, resumed, budget, agent, invariants } = findings;
  const broken = invariants.filter(({ holds }) => !holds);
  return [
    ...(tasks.completed === tasks.total
      ? []
      : [`${tasks.total - tasks.completed} of ${tasks.total} tasks did not complete.`]),
    ...(killed.finishedBy === killed.worker ? ['The killed worker finished its task.'] : []),
    ...(resumed.holds ? [] : ['The retry did not go on from the checkpoint.']),
    ...(budget.holds ? [] : ['The budget does not add up to what was used.']),
    ...('reason' in agent || agent.holds ? [] : [complaintOf(agent)]),
    ...broken.map(({ title }) => `Broken: ${title}.`),
  ];
}

function complaintOf(story: AgentStory): string {
  const { agent, state, error, usedTokens, servedTokens } = story;
  if (state !== 'MERGED') {
    return `The change of ${agent} is ${state} (${error ?? 'no error'}). --without-agent leaves it out.`;
  }
  if (servedTokens !== undefined && usedTokens !== servedTokens) {
    return `The ledger has ${usedTokens} tokens of ${agent}, and ${servedTokens} were served.`;
  }
  return `The change of ${agent} was not killed, red, mended and green, as it should be.`;
}

export function writeJson(file: string, findings: Findings): void {
  const { tasks, jobSeconds, speed, killed, recovery, resumed, budget, agent, invariants } =
    findings;
  const document = {
    ok: complaintsOf(findings).length === 0,
    tasks,
    measured: { jobSeconds, ...speed, recovery },
    settings: { heartbeatSeconds: HEARTBEAT_SECONDS, staleSeconds: STALE_SECONDS },
    killed: { ...killed, resumed },
    budget,
    agent,
    invariants,
  };
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
}
