import type { Log } from '#lib/agent-host';
import type { AgentEnd, FailureClass as AgentFailure } from '#lib/agent-kinds';
import {
  AgentSession,
  type AgentSessionEnd,
  composeContinuation,
  composePrompt,
  type Handover,
  type OfferedKind,
} from '#lib/agent-sessions';
import { type PermissionRule, strictestNetwork } from '#lib/kernel';
import {
  readLimits,
  Redactor,
  type RuntimeDriver,
  type SessionSignal,
  SpawnError,
} from '#lib/session-runtime';
import type { FailureClass, RunFailure, RunMessage } from '../api/types.js';
import { classifyExit } from '../execution/classify.js';
import { environmentOf, filesOf, secretsOf } from '../execution/surroundings.js';
import type { Job, Outcome, RunningJob } from '../execution/job.js';
import { AgentLog } from './agent-log.js';
import { AgentTalk } from './agent-talk.js';
import { type ModelGateParts, RunModelGate } from './model-gate.js';
import { RunPermissions } from './run-permissions.js';

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
  settings?: Record<string, unknown> & { permissions?: PermissionRule[] };
}

/**
 * Executes a task by the coding agent that it names.
 *
 * @throws SpawnError if this machine cannot start it
 */
export async function startAgent(job: Job, options: AgentExecutionOptions): Promise<RunningJob> {
  const agent = job.task.agent as unknown as TaskAgent;
  const offered = options.offered(agent.kind);
  if (offered === undefined) {
    throw new SpawnError('infrastructure', `This worker no longer has the kind "${agent.kind}"`);
  }
  const { driver, api, workspaceId, log, passedEnv } = options;
  const { run, task, report } = job;
  const secrets = secretsOf(job, passedEnv);
  const left = leftBy(task.checkpointData);
  const lines = new AgentLog(report, new Redactor(secrets), left.transcript);
  // Routing knows prices, not the provider that the program speaks to.
  const { model } = agent;
  const gate = new RunModelGate({ api, runId: run.id, report, log });
  const { permissionMode = 'auto' } = agent;
  const { permissions: all = [], ...settings } = agent.settings ?? {};
  // The server checks those for itself.
  const rules = all.filter(({ tool }) => tool !== 'drover');
  const permissions = new RunPermissions({
    rules,
    mode: permissionMode === 'plan' ? 'read-only' : permissionMode,
    report,
    redact: (text) => lines.redacted(text),
    note: (level, text) => lines.note(level, text, 'agent_permission'),
    // A session that cannot start waits for no decision.
    decide: (...decision) =>
      void starting.then(
        (session) => session.decide(...decision),
        () => undefined,
      ),
  });
  const talk = new AgentTalk({ lines, permissions, report });
  const starting = AgentSession.start(
    {
      ...offered,
      id: run.id,
      workspaceId,
      prompt: promptOf(task, left),
      model,
      // With rules, the program asks before it uses a tool.
      permissionMode: rules.length === 0 || permissionMode === 'plan' ? permissionMode : 'ask',
      settings,
      mcpServers: [],
      env: environmentOf(job, {}),
      files: filesOf(job),
      secrets,
      network: strictestNetwork(run.network ?? 'none', networkOf(task.inputContext)),
      limits: readLimits(task.inputContext['limits'], 'inputContext.limits'),
      token: run.token,
    },
    { driver, gate, onEvent: talk.onEvent },
  );
  return new AgentExecution(job, { session: await starting, lines, gate, talk });
}

interface Parts {
  session: AgentSession;
  lines: AgentLog;
  gate: RunModelGate;
  talk: AgentTalk;
}

class AgentExecution implements RunningJob {
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

  hear(message: RunMessage): void {
    this.parts.talk.hear(message, this.parts.session);
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
    const { continues } = leftBy(this.job.task.checkpointData);
    const agent = { kind, transcript: lines.transcript, ...(continues && { continues }) };
    this.job.report.progress({ checkpointData: { ...this.job.task.checkpointData, agent } });
  }
}

interface Left extends Handover {
  /** The conversation is that of a finished task, which a person continues. */
  continues: boolean;
}

/** The checkpoint and the conversation that the last run left. */
function leftBy(checkpoint: unknown): Left {
  const { agent, ...rest } = (checkpoint ?? {}) as Record<string, unknown>;
  const { transcript, continues } = (agent ?? {}) as { transcript?: unknown; continues?: unknown };
  return {
    continues: continues === true,
    ...(Object.keys(rest).length > 0 && { checkpoint: rest }),
    ...(typeof transcript === 'string' && transcript !== '' && { transcript }),
  };
}

function promptOf(task: Job['task'], left: Left): string {
  const { instructions } = task;
  if (!left.continues || typeof instructions !== 'string') return composePrompt(task, left);
  return composeContinuation(task, { ...left, request: instructions });
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
