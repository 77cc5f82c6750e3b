import type { Log, Running } from '#lib/agent-host';
import type { AgentEnd, FailureClass as AgentFailure } from '#lib/agent-kinds';
import {
  AgentSession,
  type AgentSessionEnd,
  composePrompt,
  type Handover,
  type OfferedKind,
} from '#lib/agent-sessions';
import { strictestNetwork } from '#lib/kernel';
import {
  readLimits,
  Redactor,
  type RuntimeDriver,
  type SessionSignal,
  SpawnError,
} from '#lib/session-runtime';
import type { FailureClass, RunFailure } from '../api/types.js';
import { classifyExit } from '../execution/classify.js';
import { environmentOf, filesOf, secretsOf } from '../execution/surroundings.js';
import type { Job, Outcome } from '../execution/job.js';
import { AgentLog } from './agent-log.js';
import { type ModelGateParts, RunModelGate } from './model-gate.js';

/** The time between two checkpoints of a conversation. */
const CHECKPOINT_MS = 5_000;

export interface AgentExecutionOptions {
  driver: RuntimeDriver;
  api: ModelGateParts['api'];
  offered: (kind: string) => OfferedKind | undefined;
  workspaceId?: string;
  log: Log;
  passedEnv: Record<string, string>;
}

/** The coding agent of a task, as the server has checked it. */
interface TaskAgent {
  kind: string;
  model?: string;
  permissionMode?: 'auto' | 'ask' | 'plan' | 'read-only';
  settings?: Record<string, unknown>;
}

/**
 * Executes a task by the coding agent that it names.
 *
 * @throws SpawnError if this machine cannot start it
 */
export async function startAgent(
  job: Job,
  options: AgentExecutionOptions,
): Promise<Running<Outcome>> {
  const agent = job.task.agent as unknown as TaskAgent;
  const offered = options.offered(agent.kind);
  if (offered === undefined) {
    throw new SpawnError('infrastructure', `This worker no longer has the kind "${agent.kind}"`);
  }
  const { driver, api, workspaceId, log, passedEnv } = options;
  const { run, task, report } = job;
  const secrets = secretsOf(job, passedEnv);
  const lines = new AgentLog(report, new Redactor(secrets));
  // Routing knows prices, not the provider that the program speaks to.
  const { model } = agent;
  const gate = new RunModelGate({ api, runId: run.id, report, log });
  const session = await AgentSession.start(
    {
      ...offered,
      id: run.id,
      workspaceId,
      prompt: composePrompt(task, handoverOf(task.checkpointData)),
      model,
      permissionMode: agent.permissionMode ?? 'auto',
      settings: agent.settings ?? {},
      mcpServers: [],
      env: environmentOf(job, {}),
      files: filesOf(job),
      secrets,
      network: strictestNetwork(run.network ?? 'none', networkOf(task.inputContext)),
      limits: readLimits(task.inputContext['limits'], 'inputContext.limits'),
      token: run.token,
    },
    { driver, gate, onEvent: (event) => lines.add(event) },
  );
  return new AgentExecution(job, { session, lines, gate });
}

interface Parts {
  session: AgentSession;
  lines: AgentLog;
  gate: RunModelGate;
}

class AgentExecution implements Running<Outcome> {
  readonly exit: Promise<Outcome>;
  private readonly timer: NodeJS.Timeout;
  private kept = 0;

  constructor(
    private readonly job: Job,
    private readonly parts: Parts,
  ) {
    this.timer = setInterval(() => this.keep(), CHECKPOINT_MS);
    this.exit = parts.session.exit.then((end) => this.conclude(end));
  }

  stop(graceMs: number): void {
    this.parts.session.stop(graceMs);
  }

  notify(signal: SessionSignal): void {
    this.parts.session.notify(signal);
  }

  private conclude({ end, exit }: AgentSessionEnd): Outcome {
    clearInterval(this.timer);
    this.keep();
    const { limit } = this.parts.gate;
    if (end.kind === 'done') {
      return { kind: 'succeeded', summary: end.summary, result: { summary: end.summary ?? '' } };
    }
    if (limit !== undefined) return { kind: 'refused', limit };
    return { kind: 'failed', error: failureOf(end, exit) };
  }

  /** Leaves the end of the conversation to a later run. */
  private keep(): void {
    const { lines } = this.parts;
    if (lines.done === this.kept) return;
    this.kept = lines.done;
    const { kind } = this.job.task.agent as unknown as TaskAgent;
    const agent = { kind, transcript: lines.transcript };
    this.job.report.progress({ checkpointData: { ...this.job.task.checkpointData, agent } });
  }
}

/** The checkpoint and the conversation that the last run left. */
function handoverOf(checkpoint: unknown): Handover {
  const { agent, ...rest } = (checkpoint ?? {}) as Record<string, unknown>;
  const { transcript } = (agent ?? {}) as { transcript?: unknown };
  return {
    ...(Object.keys(rest).length > 0 && { checkpoint: rest }),
    ...(typeof transcript === 'string' && transcript !== '' && { transcript }),
  };
}

function networkOf(inputContext: object): 'host' | 'none' {
  return (inputContext as { network?: unknown }).network === 'host' ? 'host' : 'none';
}

const CLASSES: Partial<Record<AgentFailure, FailureClass>> = {
  memory: 'oom',
  setup: 'setup',
  provider: 'infrastructure',
};

function failureOf(
  end: Exclude<AgentEnd, { kind: 'done' }>,
  exit: AgentSessionEnd['exit'],
): RunFailure {
  const evidence = classifyExit({ ...exit, lastWords: [] });
  if (end.kind === 'interrupted') return { ...evidence, message: 'The agent was interrupted' };
  // The kernel, or a limit of the session, knows better than the agent.
  if (evidence.class === 'oom' || evidence.class === 'disk') return evidence;
  const failureClass = CLASSES[end.class] ?? evidence.class;
  return {
    ...evidence,
    class: failureClass,
    message: `${end.message} (${end.class})`,
    retryable: end.retryable,
  };
}
