import { join } from 'node:path/posix';
import type { LimitFunction } from 'p-limit';
import { type Log, messageOf } from '#lib/agent-host';
import type { AgentEnd, FailureClass as AgentFailure, McpServer } from '#lib/agent-kinds';
import {
  AgentSession,
  type AgentSessionEnd,
  type AgentWords,
  type CallsUpTo,
  type OfferedKind,
} from '#lib/agent-sessions';
import { type PermissionRule, reachOf, strictestReach } from '#lib/kernel';
import {
  readLimits,
  Redactor,
  type RuntimeDriver,
  type SessionSignal,
  SpawnError,
} from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import type { FailureClass, RunFailure, RunMessage } from '../api/types.js';
import { classifyExit } from '../execution/classify.js';
import { credentialsOf, environmentOf, filesOf, secretsOf } from '../execution/surroundings.js';
import type { CodeRun } from '../code/code-run.js';
import { readReach } from '../execution/command.js';
import { type Job, type Outcome, reachOfRun, type RunningJob } from '../execution/job.js';
import { AgentLog } from './agent-log.js';
import { AgentTalk } from './agent-talk.js';
import {
  addFilesOfMessage,
  type AttachedFiles,
  attachedFiles,
  filesOfMessages,
} from './attached-files.js';
import { Beginning, type SessionPart } from './beginning.js';
import { CircleWatch, type MostMeasure } from './circle-watch.js';
import { type Earlier, earlierState, NOTHING } from './earlier-state.js';
import { LargeParts } from './large-parts.js';
import { type ModelGateParts, RunModelGate } from './model-gate.js';
import { RunPermissions } from './run-permissions.js';
import { StateKeeper } from './state-keeper.js';

export interface AgentExecutionOptions {
  driver: RuntimeDriver;
  api: ModelGateParts['api'] &
    Pick<DroverApi, 'agentState' | 'saveAgentState' | 'saveArtifact' | 'attachments'>;
  offered: (kind: string) => OfferedKind | undefined;
  workspaceId?: string;
  log: Log;
  passedEnv: Record<string, string>;
  /** Bounds the files that this worker holds in memory. */
  limit: LimitFunction;
  /** The most that it does about an agent that goes in circles. */
  circles: MostMeasure;
  /** Gets further secrets of the session, which no file of it must show. */
  learn: (secrets: readonly string[]) => void;
  /** The repository on which the agent works. */
  code?: CodeRun;
}

/** The coding agent of a task, as the server has checked it. */
interface TaskAgent {
  kind: string;
  model?: string;
  permissionMode?: 'auto' | 'ask' | 'plan' | 'read-only';
  settings?: Record<string, unknown> & { permissions?: PermissionRule[] };
}

/**
 * Executes a task by the coding agent that it names. The session begins where the last one of the task
 * stopped: in its conversation, or with a summary of it.
 *
 * @throws SpawnError if this machine cannot start it, and the errors of `JobReports.prompt`
 */
export async function startAgent(job: Job, options: AgentExecutionOptions): Promise<RunningJob> {
  const agent = job.task.agent as unknown as TaskAgent;
  const offered = options.offered(agent.kind);
  if (offered === undefined) {
    throw new SpawnError('infrastructure', `This worker no longer has the kind "${agent.kind}"`);
  }
  const { driver, api, workspaceId, log, limit } = options;
  const { run, task, report, folder } = job;
  const { code } = options;
  const around = await code?.surroundings();
  const wanted = readReach(task.inputContext) ?? around?.reach ?? reachOf('none', []);
  const reach = strictestReach(reachOfRun(run), wanted, ...(around ? [around.reach] : []));
  const limits = readLimits(task.inputContext['limits'], 'inputContext.limits');
  const secrets = secretsOf(job, options.passedEnv);
  const redactor = new Redactor(secrets);
  const credentials = await credentialsOf(job, reach.network, (values) => {
    redactor.add(values);
    options.learn(values);
  });
  const large = new LargeParts({ api, runId: run.id, redactor, limit, log });
  const lines = new AgentLog(report, redactor, (text) => large.keep(text));
  // Routing knows prices, not the provider that the program speaks to.
  const { model } = agent;
  const gate = new RunModelGate({
    api,
    runId: run.id,
    report,
    log,
    onTokens: (tokens) => watch.onTokens(tokens),
  });
  gate.prepare(offered.kind.provider);
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
  const talk = new AgentTalk({
    lines,
    permissions,
    report,
    attach: (id, hearing) =>
      addFilesOfMessage(id, { ...parts, add: (files) => hearing.addFiles(files) }),
  });
  const sessionFolder = driver.surroundings(run.id, reach).folder;
  const workDir = join(sessionFolder, 'work', around?.spec.startsIn ?? '');
  const warn = (text: string) => lines.note('WARN', text, 'agent_attachments');
  const parts = { api, folder: sessionFolder, limit, log, warn };
  const attached = await attachedFiles(task.inputContext, parts);
  if (attached !== undefined) noteAttached(lines, attached);
  const keeper = new StateKeeper({
    api,
    runId: run.id,
    taskId: task.id,
    kind: offered.kind,
    isCode: code !== undefined,
    folder: folder.root,
    workDir,
    upTo: () => upToNow(run.id, { lines, talk, earlier: begin.earlier }),
    limit,
    log,
    warn: (message) => lines.note('WARN', message, 'agent_state'),
  });
  const watch = new CircleWatch({
    most: options.circles,
    note: (level, text, event) => lines.note(level, lines.redacted(text), event),
    say: (words, deliver) =>
      void starting.then(
        (session) => session.say(words, deliver),
        () => undefined,
      ),
    keep: () => keeper.finished(),
    // An agent can begin to act while its session starts.
    end: (evidence) => void starting.then(() => execution.endStuck(evidence)),
  });
  if (code !== undefined) code.onFiles = watch.onFiles;
  const ids = { id: run.id, taskId: task.id };
  const isFirst = run.generation === 1 && (task.continuesId ?? null) === null;
  const earlier = isFirst
    ? Promise.resolve(NOTHING)
    : earlierState(ids, { api, kind: offered.kind, workDir, log });
  const begin = new Beginning(report, { isFirst, earlier, lines });
  let starting: Promise<AgentSession>;
  const words = async (): Promise<AgentWords> => {
    const first = await begin.session();
    const further = first.mcpServers.flatMap(secretsOfServer);
    redactor.add(further);
    options.learn(further);
    return withAttached(first, attached, await filesOfMessages(first.attachments, parts));
  };
  const startNow = (): Promise<AgentSession> =>
    AgentSession.start(
      {
        ...offered,
        words: words(),
        id: run.id,
        workspaceId,
        model,
        // With rules, the program asks before it uses a tool.
        permissionMode: rules.length === 0 || permissionMode === 'plan' ? permissionMode : 'ask',
        settings,
        env: environmentOf(job, around?.env ?? {}),
        around,
        files: filesOf(job),
        secrets,
        ...reach,
        credentials,
        limits,
        token: run.token,
      },
      {
        driver,
        gate,
        onEvent: (event) => {
          begin.heed(event);
          if (event.type === 'session') keeper.begin(event.id);
          talk.onEvent(event);
          if (event.type === 'tool_result') keeper.finished();
          if (event.type === 'tool_result' || event.type === 'turn_ended') code?.touched();
          watch.onEvent(event);
        },
      },
    );
  const start = (): Promise<AgentSession> => (starting = startNow());
  const restart = async (): Promise<AgentSession> => {
    await driver.remove(run.id);
    return start();
  };
  const session = await start();
  const execution = new AgentExecution({ session, gate, talk, keeper, large, begin, restart });
  return execution;
}

function noteAttached(lines: AgentLog, { names }: AttachedFiles): void {
  const event = 'agent_attachments';
  if (names.length > 0) lines.note('INFO', `Attached files: ${names.join(', ')}`, event);
  else lines.note('WARN', 'The task names attachments, but there are none', event);
}

/** The words of a resumed conversation named the files of the task before. */
function withAttached<Part extends SessionPart>(
  { isToldAgain, ...part }: Part,
  attached: AttachedFiles | undefined,
  ofMessages: readonly AttachedFiles[],
): AgentWords {
  const all = [...(attached === undefined ? [] : [attached]), ...ofMessages];
  const files = all.flatMap((each) => each.files);
  const told = isToldAgain ? attached : undefined;
  const sections = [
    sectionOf('Attached files', told?.list),
    sectionOf('Files of messages', ofMessages.map(({ list }) => list).join('\n')),
  ];
  return {
    ...part,
    prompt: [part.prompt, ...sections].join(''),
    images: told?.images,
    takenOver: [...(part.takenOver ?? []), ...files],
  };
}

function sectionOf(title: string, list = ''): string {
  return list === '' ? '' : `\n\n## ${title}\n\n${list}\n`;
}

function secretsOfServer(server: McpServer): string[] {
  return Object.values('url' in server ? server.headers : server.env);
}

/**
 * The tool calls and messages that the conversation surely has. Before the first one, it may even lack the
 * prompt, which names those of earlier runs.
 */
function upToNow(
  runId: string,
  {
    lines,
    talk,
    earlier: { resume, upTo },
  }: { lines: AgentLog; talk: AgentTalk; earlier: Earlier },
): CallsUpTo {
  const [calls, messages] = [lines.calls.settled(), talk.messages.settled()];
  const isOfEarlier = calls + messages === 0 && resume !== undefined && upTo !== undefined;
  return isOfEarlier ? upTo : { runId, calls, ...(messages > 0 && { messages }) };
}

interface Parts {
  session: AgentSession;
  gate: RunModelGate;
  talk: AgentTalk;
  keeper: StateKeeper;
  large: LargeParts;
  begin: Beginning;
  /** Starts a session in place of one that has ended. @throws SpawnError */
  restart: () => Promise<AgentSession>;
}

/** The time for an agent that goes in circles to end by itself. */
const STUCK_MS = 10_000;

class AgentExecution implements RunningJob {
  readonly exit: Promise<Outcome>;
  private session: AgentSession;
  private stopMs: number | undefined;
  private pausesAfterTurn = false;
  /** The circle for which its run ends. */
  private circle: string | undefined;

  constructor(private readonly parts: Parts) {
    this.session = parts.session;
    this.exit = this.follow();
  }

  stop(graceMs: number): void {
    this.stopMs = graceMs;
    this.session.stop(graceMs);
  }

  pauseAfterTurn(isWanted: boolean): void {
    this.pausesAfterTurn = isWanted;
    this.session.pauseAfterTurn(isWanted);
  }

  notify(signal: SessionSignal): void {
    this.session.notify(signal);
  }

  hear(message: RunMessage): void {
    this.parts.talk.hear(message, this.session);
  }

  /** Ends a run that goes in circles. Its retry begins a new conversation, and is told why. */
  endStuck(evidence: string): void {
    if (this.stopMs !== undefined) return;
    this.circle = evidence;
    this.stop(STUCK_MS);
  }

  private async follow(): Promise<Outcome> {
    const { begin, keeper, large } = this.parts;
    let ended = await this.session.exit;
    if (this.stopMs === undefined && begin.isRefused(ended.end)) {
      keeper.forget();
      const failure = await this.startAnew();
      if (failure !== undefined) {
        await keeper.close();
        return failure;
      }
      ended = await this.session.exit;
    }
    await Promise.all([keeper.close(whyNoMore(ended.end, this.circle)), large.close()]);
    return this.conclude(ended);
  }

  /** The program cannot resume the conversation. A new one begins with a summary. */
  private async startAnew(): Promise<Outcome | undefined> {
    try {
      this.session = await this.parts.restart();
    } catch (error) {
      return { kind: 'failed', error: failureOfStart(error) };
    }
    this.parts.talk.sayAgain(this.session);
    this.session.pauseAfterTurn(this.pausesAfterTurn);
    if (this.stopMs !== undefined) this.session.stop(this.stopMs);
    return undefined;
  }

  private conclude({ end, exit }: AgentSessionEnd): Outcome {
    const { limit } = this.parts.gate;
    if (end.kind === 'done') {
      return { kind: 'succeeded', summary: end.summary, result: { summary: end.summary ?? '' } };
    }
    if (end.kind === 'paused') return end;
    if (limit !== undefined) return { kind: 'refused', limit };
    if (this.circle !== undefined) return { kind: 'failed', error: stuckIn(this.circle) };
    return { kind: 'failed', error: failureOf(end, exit) };
  }
}

/** A conversation that has no room for another turn would end each later run at once. */
function whyNoMore(end: AgentEnd, circle: string | undefined): string | undefined {
  if (circle !== undefined) return `The earlier conversation went in circles. ${circle}`;
  const isFull = end.kind === 'failed' && end.class === 'context_full';
  return isFull
    ? 'The earlier conversation no longer fits into the context of the model'
    : undefined;
}

function stuckIn(circle: string): RunFailure {
  const message = `The agent went in circles. ${circle}`;
  return { class: 'stuck', message, retryable: true };
}

const CLASSES: Partial<Record<AgentFailure, FailureClass>> = {
  memory: 'oom',
  setup: 'setup',
  provider: 'infrastructure',
  rate_limited: 'infrastructure',
  refused: 'refused',
  denied: 'denied',
  context_full: 'context_full',
  turn_limit: 'turn_limit',
  crash: 'crash',
};

function failureOf(
  end: Exclude<AgentEnd, { kind: 'done' | 'paused' }>,
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

function failureOfStart(error: unknown): RunFailure {
  const failureClass = error instanceof SpawnError ? error.failureClass : 'infrastructure';
  return {
    class: failureClass,
    message: messageOf(error),
    retryable: failureClass === 'infrastructure',
  };
}
