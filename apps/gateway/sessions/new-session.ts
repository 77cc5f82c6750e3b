import {
  DroverError,
  type FieldError,
  HOST_LIST_RULE,
  isHostList,
  isNetwork,
  looksSecret,
  type Network,
  newId,
  type Reach,
  valuesOfCredentials,
  whyNoVariable,
} from '#lib/kernel';
import { readLimits, secretsIn, SpawnError } from '#lib/session-runtime';
import type { SpawnAgentDto, SpawnSessionDto } from '../http/dto/spawn.dto.js';
import type { SessionOrder, SessionRecord } from './domain/session.js';

interface Identity {
  sessionKeyPrefix: string;
  /** The server's address, if the gateway has its own setting for it. */
  apiUrl: string | undefined;
  graceSeconds: number;
  /** The command of sessions that are requested without one. */
  defaultCommand: string[] | undefined;
  /** Values of the gateway's own environment that sessions see. */
  passedSecrets: string[];
}

/** The session of a task, with or without a run. */
export function sessionOfTask(body: SpawnAgentDto, by: Identity): SessionRecord {
  const { context, taskId, agentId, workspaceId } = body;
  const id = newId();
  const run = runOf(body);
  const secrets = environmentOf('secrets', body.secrets);
  const { credentials = [] } = body;
  const order: SessionOrder = {
    command: commandOf(body.command, by),
    env: {
      ...secrets,
      ...(run && {
        DROVER_API_URL: by.apiUrl ?? run.apiUrl,
        DROVER_RUN_TOKEN: run.runToken,
        DROVER_RUN_ID: run.runId,
      }),
      DROVER_TASK_ID: taskId,
      DROVER_AGENT_ID: agentId,
      DROVER_WORKSPACE_ID: workspaceId,
      DROVER_SESSION_KEY: sessionKey(by, id),
      ...factsOf(body.metadata),
    },
    task: {
      task: {
        id: taskId,
        title: context.taskTitle,
        description: context.taskDescription ?? null,
        inputContext: context.inputContext ?? {},
        checkpointData: context.checkpointData ?? {},
        answers: context.answers ?? [],
      },
      ...(run && { run: { id: run.runId, generation: run.generation } }),
      metadata: body.metadata ?? {},
      capabilities: body.capabilities ?? [],
    },
    ...networkOf(body.metadata, context.inputContext),
    ...(credentials.length > 0 && { credentials }),
    ...limitsOf([
      ['context.inputContext.limits', context.inputContext?.['limits']],
      ['metadata.limits', body.metadata?.['limits']],
    ]),
    secrets: [
      ...(run ? [run.runToken] : []),
      ...Object.values(secrets),
      ...valuesOfCredentials(credentials),
      ...by.passedSecrets,
      ...secretsIn(context.inputContext),
      ...secretsIn(context.checkpointData),
      ...secretsIn(context.answers),
    ],
  };
  const runId = run?.runId ?? null;
  return { ...blankRecord(body, by, id), runId, taskId, agentId, workspaceId, order };
}

const RUN_FIELDS = ['runId', 'generation', 'runToken', 'apiUrl'] as const;
type RunOfSession = Required<Pick<SpawnAgentDto, (typeof RUN_FIELDS)[number]>>;

function runOf(body: SpawnAgentDto): RunOfSession | undefined {
  const missing = RUN_FIELDS.filter((field) => body[field] === undefined);
  if (missing.length === RUN_FIELDS.length) return undefined;
  const [field] = missing;
  if (field !== undefined) refuse({ field, message: 'must be given for a session of a run' });
  return body as RunOfSession;
}

/** A session without a run. */
export function freeSession(body: SpawnSessionDto, by: Identity): SessionRecord {
  const id = newId();
  if (body.autoStart === false) {
    const message = 'must be true: a session starts as soon as a slot is free';
    refuse({ field: 'autoStart', message });
  }
  const { sessionLabel, prompt, model, thinking, channel, metadata = {} } = body;
  const env = environmentOf('env', body.env);
  const order: SessionOrder = {
    command: commandOf(body.command, by),
    env: { ...env, DROVER_SESSION_KEY: sessionKey(by, id) },
    task: { session: { id, label: sessionLabel, prompt, model, thinking, channel }, metadata },
    ...networkOf(metadata),
    ...limitsOf([['metadata.limits', metadata['limits']]]),
    secrets: [...by.passedSecrets, ...secretValues(env)],
  };
  return { ...blankRecord({ ...body, label: sessionLabel }, by, id), order };
}

export function secretValues(env: Record<string, string>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (looksSecret(name) ? [value] : []));
}

/** The server has compared the task's network with the policies, and its result is in the metadata. */
function networkOf(
  metadata: Record<string, unknown> = {},
  inputContext: Record<string, unknown> | null = {},
): Partial<Reach> {
  checkNetwork('context.inputContext.network', inputContext?.['network']);
  const network = checkNetwork('metadata.network', metadata['network']);
  const { allowedHosts: wanted } = inputContext ?? {};
  if (wanted !== undefined && wanted !== null && !isHostList(wanted)) {
    refuse({ field: 'context.inputContext.allowedHosts', message: `must be ${HOST_LIST_RULE}` });
  }
  const allowedHosts = metadata['allowedHosts'] ?? [];
  if (!Array.isArray(allowedHosts) || !allowedHosts.every(isHostList)) {
    refuse({
      field: 'metadata.allowedHosts',
      message: `must be a list of lists, of which each must be ${HOST_LIST_RULE}`,
    });
  }
  return network === undefined ? {} : { network, ...(network === 'allow' && { allowedHosts }) };
}

function checkNetwork(field: string, value: unknown): Network | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isNetwork(value)) refuse({ field, message: 'must be "none", "allow" or "host"' });
  return value;
}

/**
 * The limits that the task asks for, or else those of its agent.
 *
 * @param asked the fields with them, in the order in which they count
 */
function limitsOf(asked: [field: string, value: unknown][]): Pick<SessionOrder, 'limits'> {
  try {
    const [field = '', value] = asked.find(([, limits]) => limits != null) ?? [];
    return { limits: readLimits(value, field) };
  } catch (error) {
    if (!(error instanceof SpawnError)) throw error;
    const [field = '', ...words] = error.message.split(' ');
    return refuse({ field, message: words.join(' ') });
  }
}

/** The model that was chosen for the run, and the traceparent of its span, if they exist. */
function factsOf({ model, traceparent }: Record<string, unknown> = {}): Record<string, string> {
  return {
    ...(typeof model === 'string' && { DROVER_MODEL: model }),
    ...(typeof traceparent === 'string' && { TRACEPARENT: traceparent }),
  };
}

type Limits = Pick<SpawnAgentDto, 'label' | 'timeoutSeconds' | 'graceSeconds'>;

function blankRecord(body: Limits, by: Identity, id: string): SessionRecord {
  const createdAt = new Date().toISOString();
  return {
    id,
    sessionKey: sessionKey(by, id),
    runId: null,
    workspaceId: null,
    agentId: null,
    taskId: null,
    label: body.label,
    status: 'QUEUED',
    pid: null,
    exitCode: null,
    signal: null,
    oomKilled: false,
    error: null,
    createdAt,
    startedAt: null,
    endedAt: null,
    lastActivityAt: createdAt,
    timeoutSeconds: body.timeoutSeconds ?? null,
    graceSeconds: body.graceSeconds ?? by.graceSeconds,
    order: null,
    stopping: null,
    reports: [],
  };
}

function sessionKey({ sessionKeyPrefix }: Identity, id: string): string {
  return `${sessionKeyPrefix}:${id}`;
}

function commandOf(
  given: string[] | undefined,
  { defaultCommand }: Identity,
): [string, ...string[]] {
  const command = given ?? defaultCommand;
  if (command === undefined) {
    const message = 'must be given: this gateway has no GATEWAY_DEFAULT_COMMAND';
    refuse({ field: 'command', message });
  }
  const [program = '', ...args] = command;
  if (program.trim() === '') refuse({ field: 'command[0]', message: 'must name a program' });
  return [program, ...args];
}

function environmentOf(field: string, env: Record<string, unknown> = {}): Record<string, string> {
  for (const [name, value] of Object.entries(env)) {
    const message = typeof value === 'string' ? whyNoVariable(name) : 'must be a string';
    if (message !== null) refuse({ field: `${field}.${name}`, message });
  }
  return env as Record<string, string>;
}

function refuse(error: FieldError): never {
  throw new DroverError('validation_failed', { errors: [error] });
}
