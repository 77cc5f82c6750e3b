import { isOwnCapability } from '#lib/agent-manager/domain';
import { kindOfCapability, RUNS_COMMANDS } from '#lib/kernel';
import type { AgentFacts, AgentGroup, AgentAvailability, ExplainFacts } from './explain-facts.js';
import { spawnObstacles } from './explain-spawning.js';
import type { OtherReason as Reason } from './reasons.js';

type Sentence = { code: AgentReasonCode; say: (agents: string, one: boolean) => string };
type AgentReasonCode =
  | 'waiting_for_claim'
  | 'waiting_for_assignment'
  | 'agents_full'
  | 'agents_draining'
  | 'agents_in_error'
  | 'agents_offline'
  | 'agents_disabled'
  | 'agents_without_command'
  | 'agents_resting'
  | 'agents_provider_limited';

const SENTENCES: Record<AgentAvailability, Sentence> = {
  free: {
    code: 'waiting_for_claim',
    say: (agents, one) =>
      `It is ready. ${agents} ${one ? 'has' : 'have'} room for it, and ` +
      `${one ? 'takes' : 'take'} the best ranked task with the next claim.`,
  },
  assignable: {
    code: 'waiting_for_assignment',
    say: (agents, one) =>
      `It is ready. ${agents} ${one ? 'has' : 'have'} room for it, and ` +
      `${one ? 'is' : 'are'} given the best ranked task in the coordinator's next cycle.`,
  },
  full: {
    code: 'agents_full',
    say: (agents, one) =>
      `${agents} ${one ? 'is' : 'are'} at ${one ? 'its' : 'their'} limit of tasks.`,
  },
  draining: {
    code: 'agents_draining',
    say: (agents, one) =>
      `${agents} ${one ? 'is' : 'are'} draining and ${one ? 'takes' : 'take'} no new tasks.`,
  },
  in_error: {
    code: 'agents_in_error',
    say: (agents, one) =>
      `${agents} ${one ? 'is' : 'are'} in ERROR: ${one ? 'it was' : 'they were'} ` +
      `unresponsive for too long, and ${one ? 'returns' : 'return'} with the next ` +
      'heartbeat.',
  },
  unresponsive: {
    code: 'agents_offline',
    say: (agents, one) => `${agents} ${one ? 'has' : 'have'} sent no heartbeat lately.`,
  },
  disabled: {
    code: 'agents_disabled',
    say: (agents, one) =>
      `${agents} ${one ? 'is' : 'are'} switched off: the coordinator gives ` +
      `${one ? 'it' : 'them'} no tasks.`,
  },
  without_command: {
    code: 'agents_without_command',
    say: (agents, one) => `${agents} ${one ? 'has' : 'have'} no command that a session could run.`,
  },
  cooldown: {
    code: 'agents_resting',
    say: (agents, one) =>
      `${agents} ${one ? 'cools' : 'cool'} down, because the gateway could not start ` +
      `${one ? 'its' : 'their'} command. Correct it and register again, or wait.`,
  },
  provider_limited: {
    code: 'agents_provider_limited',
    say: (agents, one) =>
      `${agents} ${one ? 'waits' : 'wait'} for the provider of ${one ? 'its' : 'their'} ` +
      'own model, which refuses it for now.',
  },
};

/** How the capable agents make the task wait. */
export function agentReasons(facts: ExplainFacts): Reason[] {
  const groups = facts.agents.filter((group) => group.count > 0);
  if (groups.length === 0) return [noCapableAgent(facts)];
  const free = groups.find((group) => group.availability === 'free');
  // If one is free, the state of the others is no reason.
  if (free) return [reasonOf(free)];
  const obstacles = groups.some(needsSession) ? spawnObstacles(facts.spawning) : [];
  if (obstacles.length > 0) return [...groups.filter(isUnable).map(reasonOf), ...obstacles];
  const assignable = groups.find(isAssignable);
  return (assignable ? [assignable] : groups).map(reasonOf);
}

const isAssignable = ({ availability }: AgentGroup) => availability === 'assignable';
/**
 * A full push agent needs a session for the task later, so obstacles to sessions concern it, too.
 */
export function needsSession({ availability, pushPlaces }: AgentGroup): boolean {
  return availability === 'assignable' || (availability === 'full' && pushPlaces > 0);
}

const isUnable = (group: AgentGroup) => !isAssignable(group);

function reasonOf({ availability, count, agents }: AgentGroup): Reason {
  const { code, say } = SENTENCES[availability];
  const message = say(nameThem({ availability, count, agents }), count === 1);
  return { code, message, facts: { count, agents } };
}

type NamedGroup = Pick<AgentGroup, 'availability' | 'count' | 'agents'>;

function nameThem({ availability, count, agents }: NamedGroup): string {
  const names = agents.map((agent) => `"${agent.name}"${detailOf(availability, agent)}`).join(', ');
  if (count === 1) return `The agent ${names}`;
  const others = count > agents.length ? ` and ${count - agents.length} more` : '';
  return `${count} agents with its capabilities (${names}${others})`;
}

function detailOf(availability: AgentAvailability, agent: AgentFacts): string {
  if (availability === 'cooldown') return ` (until ${agent.restingUntil})`;
  if (availability === 'provider_limited') return ` (until ${agent.limitedUntil})`;
  if (availability === 'full') return ` (${agent.liveRuns} of ${agent.maxConcurrentTasks})`;
  const isUnresponsive = availability === 'unresponsive' || availability === 'in_error';
  return isUnresponsive && agent.lastSeenAt !== null ? ` (last heard at ${agent.lastSeenAt})` : '';
}

function noCapableAgent(facts: ExplainFacts): Reason {
  if (facts.reserved.length > 0) return reservedForOthers(facts);
  const { task, missingCapabilities, nearest } = facts;
  const { requiredCapabilities } = task;
  const near = nearest.map(({ name, missing }) => `"${name}" lacks ${list(missing)}`).join(', ');
  const nearly = near === '' ? '' : ` Nearest: ${near}.`;
  return {
    code: 'no_capable_agent',
    message: `${sentence(requiredCapabilities, missingCapabilities)}${nearly}`,
    facts: { requiredCapabilities, missingCapabilities, nearest },
  };
}

/** Agents have all capabilities, but are reserved for other tasks. */
function reservedForOthers({ task, reserved }: ExplainFacts): Reason {
  const takes = reserved.map(({ name, dedicatedTo, taskTypes }) => {
    const lacks = dedicatedTo.filter((one) => !task.requiredCapabilities.includes(one));
    const only = lacks.length > 0 ? `that require ${list(lacks)}` : `of type ${list(taskTypes)}`;
    return `"${name}" takes only tasks ${only}`;
  });
  const { taskType, requiredCapabilities } = task;
  const has = requiredCapabilities.includes(RUNS_COMMANDS) ? '' : ' without a command';
  return {
    code: 'agents_reserved',
    message: `No agent takes tasks of type "${taskType}"${has}: ${takes.join(', ')}.`,
    facts: { taskType, requiredCapabilities, agents: reserved },
  };
}

function sentence(required: readonly string[], missing: readonly string[]): string {
  if (required.length === 0) return 'No agent is registered in this workspace.';
  const assigned = missing.find(isOwnCapability);
  if (assigned) return `It is assigned to one agent ("${assigned}"), which no longer exists.`;
  const kind = missing.map(kindOfCapability).find((name) => name !== undefined);
  if (kind !== undefined) return `No agent here has the kind "${kind}".`;
  if (missing.includes(RUNS_COMMANDS))
    return (
      `No registered agent has ${list(missing)}; tasks with a command need ` + `"${RUNS_COMMANDS}".`
    );
  if (missing.length > 0) return `No registered agent has ${list(missing)}.`;
  return `No registered agent has all of ${list(required)}; each of them exists at some agent.`;
}

function list(capabilities: readonly string[]): string {
  return capabilities.map((name) => `"${name}"`).join(', ');
}
