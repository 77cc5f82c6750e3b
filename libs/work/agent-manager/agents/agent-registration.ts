import { Injectable } from '@nestjs/common';
import { Database, firstRow, type SqlRunner } from '#lib/database';
import { type Caller, DroverError, RUNS_COMMANDS } from '#lib/kernel';
import { AgentSecrets, TaskSecrets } from '#lib/secrets';
import { WakeUps } from '#lib/valkey';
import type { AgentMode, AgentRow, AgentView } from '../domain/agent-view.js';
import { isSecond, refuseWhileHeard } from '../domain/second-life.js';
import { isOwnCapability, normalizeCapabilities, ownCapability } from '../domain/capabilities.js';
import { requireSelf } from '../domain/require-self.js';
import { refuseTooMuch } from '../domain/metadata.js';
import { type HeartbeatTiming, timingOf, whyImpossible } from '../domain/timing.js';
import { toAgentView } from './agent-columns.sql.js';
import { findAgent, lockAgent } from './find-agent.sql.js';
import { silenceOfAgent } from './silence.sql.js';
import { stampFirstHeartbeat } from './stamp-first-heartbeat.sql.js';
import { transitionAgent } from '#lib/transitions';
import { changeAgent, insertAgent, type RegisteredAgent } from './write-agent.sql.js';

/** A registration of an agent. Absent fields keep their value, or take the default. */
export interface AgentRequest {
  name: string;
  mode?: AgentMode;
  model?: string | null;
  capabilities?: string[];
  /** Accepted task types. Empty means all. */
  taskTypes?: string[];
  /** Own capabilities: the agent accepts only tasks that require all of them. */
  dedicatedTo?: string[];
  coordinatorEnabled?: boolean;
  maxConcurrentTasks?: number;
  heartbeatIntervalSeconds?: number;
  staleThresholdSeconds?: number;
  hostName?: string | null;
  pid?: number | null;
  agentVersion?: string | null;
  restartCount?: number;
  /** New at each start of the agent's process. */
  bootId?: string;
  /** The previous process, if it is known to have ended. */
  previousBootId?: string;
  metadata?: Record<string, unknown>;
  /** The command of a push agent's sessions, an argument vector. */
  command?: string[];
  /** Variables for its environment. */
  secrets?: Record<string, string>;
}

export interface Registration {
  agent: AgentView;
  /** Whether the agent is new. */
  created: boolean;
}

interface Place {
  workspaceId: string;
  agentId: string;
}

/** Registers agents and changes their registration. */
@Injectable()
export class AgentRegistration {
  constructor(
    private readonly database: Database,
    private readonly secrets: AgentSecrets,
    private readonly taskSecrets: TaskSecrets,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Creates or changes an agent. A registration is a sign of life: the agent is active from then
   * on, even if it was declared dead. A pull agent that somebody else registers for the first time
   * is starting until its first heartbeat or claim. A push agent has heartbeats only while the
   * gateway has sessions of it.
   *
   * @param version the version that the client has read, if it requires that version
   * @throws DroverError `agent_not_found` (a version of a missing agent), `agent_terminated`,
   *   `agent_in_use` (another live process uses this agent), `version_mismatch`,
   *   `validation_failed` (an interval that exceeds the threshold, a push agent without a command)
   */
  async register(
    caller: Caller,
    agentId: string,
    requested: AgentRequest,
    version?: number,
  ): Promise<Registration> {
    // An agent's own token cannot create an agent, because the token requires the agent's row.
    if (caller.kind === 'agent' || caller.kind === 'run') requireSelf(caller, agentId);
    refuseOwnCommand(caller, requested);
    refuseOthersNames(agentId, requested);
    refuseTooMuch(requested.metadata);
    const place = { workspaceId: caller.workspaceId, agentId };
    const registering = this.database.tenant(caller.workspaceId).transaction(async (tx) => {
      const request = { caller, requested, version };
      const { agent, created } = await this.createOrChange(tx, place, request);
      await this.start(tx, caller, agent);
      const row = (await firstRow(tx, findAgent, [place.workspaceId, agentId])) as AgentRow;
      return { agent: toAgentView(row), created };
    });
    const registration = await this.taskSecrets.written(registering);
    this.wakeUps.signals([agentId]);
    if (registration.agent.mode === 'push') this.wakeUps.coordinator();
    return registration;
  }

  /** @returns the agent as it is started, locked */
  private async createOrChange(
    sql: SqlRunner,
    place: Place,
    request: { caller: Caller; requested: AgentRequest; version: number | undefined },
  ): Promise<{ agent: AgentRow; created: boolean }> {
    const { workspaceId, agentId: id } = place;
    const { caller, requested, version } = request;
    const known = await firstRow(sql, lockAgent, [workspaceId, id]);
    if (!known && version === undefined && mayCreate(caller)) {
      const { request: shown, inputs } = await this.secrets.seal(sql, place, requested);
      const values = [workspaceId, id, JSON.stringify(fieldsOf(shown)), caller.userId];
      const agent = await firstRow(sql, insertAgent, values);
      if (agent) {
        await this.secrets.write(sql, place, inputs);
        return { agent, created: true };
      }
    }
    // Another request can have created it meanwhile.
    const agent = known ?? (await firstRow(sql, lockAgent, [workspaceId, id]));
    if (!agent) throw new DroverError('agent_not_found');
    if (agent.lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
    if (version !== undefined && version !== agent.version) {
      throw new DroverError('version_mismatch', { members: { current: agent.version } });
    }
    await this.refuseSecond(sql, agent, requested);
    const { request: shown, inputs } = await this.secrets.seal(sql, place, requested, agent);
    const fields = fieldsOf(shown, agent);
    await sql.rows(changeAgent, [workspaceId, id, JSON.stringify(fields)]);
    await this.secrets.write(sql, place, inputs);
    return { agent: { ...agent, ...fields }, created: false };
  }

  private async refuseSecond(sql: SqlRunner, agent: AgentRow, requested: AgentRequest) {
    if (agent.lifecycle === 'ERROR' || !isSecond(requested, agent)) return;
    const silence = await firstRow(sql, silenceOfAgent, [agent.workspaceId, agent.id]);
    refuseWhileHeard(agent, silence?.seconds ?? Infinity);
  }

  private async start(sql: SqlRunner, { kind }: Caller, agent: AgentRow): Promise<void> {
    const { workspaceId, id: agentId } = agent;
    await sql.rows(stampFirstHeartbeat, [workspaceId, agentId, agent.heartbeatIntervalSeconds]);
    const isItself = kind === 'agent' || kind === 'run';
    if (agent.lifecycle === 'STARTING' && agent.mode === 'pull' && !isItself) return;
    if (agent.lifecycle !== 'STARTING' && agent.lifecycle !== 'ERROR') return;
    // An agent that was draining before it became unresponsive still is.
    const to = agent.drainingAt === null ? 'ACTIVE' : 'DRAINING';
    await transitionAgent(sql, { workspaceId, agentId, to, reason: 'registered' });
  }
}

function mayCreate(caller: Caller): caller is Caller & { userId: string | null } {
  return caller.kind === 'user' || caller.kind === 'api_key';
}

/** A new agent whose registration names only its name. */
const DEFAULTS: Omit<RegisteredAgent, 'name' | keyof HeartbeatTiming> = {
  mode: 'pull',
  model: null,
  capabilities: [],
  taskTypes: [],
  dedicatedTo: [],
  coordinatorEnabled: true,
  maxConcurrentTasks: 1,
  hostName: null,
  pid: null,
  agentVersion: null,
  restartCount: 0,
  bootId: null,
  metadata: {},
  command: [],
  secrets: {},
};

/** Absent fields keep their value, or take the default. */
function fieldsOf(requested: AgentRequest, known?: AgentRow): RegisteredAgent {
  const timing = timingOf(requested, known);
  const message = whyImpossible(timing);
  if (message !== null) {
    const errors = [{ field: 'staleThresholdSeconds', message }];
    throw new DroverError('validation_failed', { errors });
  }
  refusePushWithoutCommand(requested, known);
  const given = { ...requested, ...timing, ...offerOf(requested, known) };
  const absent = Object.entries(given).filter(([, value]) => value === undefined);
  for (const [field] of absent) delete given[field as keyof typeof given];
  return { ...DEFAULTS, ...known, ...(given as Pick<typeof given, 'name'> & typeof timing) };
}

/** Tasks are assigned by an agent's own capability, so no other agent can claim it. */
function refuseOthersNames(agentId: string, { capabilities = [], dedicatedTo = [] }: AgentRequest) {
  const own = ownCapability(agentId);
  const foreign = [...capabilities, ...dedicatedTo].filter(
    (one) => one !== own && isOwnCapability(one),
  );
  if (foreign.length === 0) return;
  const field = capabilities.some((one) => foreign.includes(one)) ? 'capabilities' : 'dedicatedTo';
  const message = `must not name another agent: ${foreign.join(', ')}`;
  throw new DroverError('validation_failed', { errors: [{ field, message }] });
}

/**
 * The agent keeps the capability of its own name. An old worker does not name that it executes
 * commands, and keeps that capability, too.
 */
function offerOf(requested: AgentRequest, known?: AgentRow) {
  const isOld = requested.dedicatedTo === undefined && known?.mode === 'pull';
  const keeps = (one: string) => isOwnCapability(one) || (isOld && one === RUNS_COMMANDS);
  const own = known?.capabilities.filter(keeps) ?? [];
  const given = requested.capabilities && [...requested.capabilities, ...own];
  const capabilities = given && normalizeCapabilities(given);
  const dedicatedTo = requested.dedicatedTo && normalizeCapabilities(requested.dedicatedTo);
  const taskTypes = requested.taskTypes && normalizeCapabilities(requested.taskTypes);
  const has = new Set(capabilities ?? known?.capabilities);
  const lacks = (dedicatedTo ?? known?.dedicatedTo ?? []).filter((one) => !has.has(one));
  if (lacks.length > 0) {
    const message = `must name capabilities of the agent, which has not: ${lacks.join(', ')}`;
    throw new DroverError('validation_failed', { errors: [{ field: 'dedicatedTo', message }] });
  }
  return { capabilities, dedicatedTo, taskTypes };
}

/**
 * Only users and API keys choose the command and environment that the gateway runs. A session must
 * not choose its successor.
 */
function refuseOwnCommand(caller: Caller, { command, secrets }: AgentRequest): void {
  if (caller.kind === 'user' || caller.kind === 'api_key') return;
  if (command === undefined && secrets === undefined) return;
  const detail = 'An agent cannot change its own command or its secrets.';
  throw new DroverError('forbidden', { detail });
}

function refusePushWithoutCommand(requested: AgentRequest, known?: AgentRow): void {
  const mode = requested.mode ?? known?.mode;
  const command = requested.command ?? known?.command ?? [];
  if (mode !== 'push' || command.length > 0) return;
  const message = 'is what a session of a push agent runs, and must be given';
  throw new DroverError('validation_failed', { errors: [{ field: 'command', message }] });
}
