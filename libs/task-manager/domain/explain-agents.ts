import type { AgentGroup, AgentStanding, ExplainFacts } from './explain-facts.js';
import type { Reason } from './explain-reasons.js';

type Sentence = { code: AgentReasonCode; say: (agents: string, one: boolean) => string };
type AgentReasonCode =
  'waiting_for_claim' | 'agents_full' | 'agents_draining' | 'agents_offline' | 'agents_disabled';

const SENTENCES: Record<AgentStanding, Sentence> = {
  free: {
    code: 'waiting_for_claim',
    say: (agents, one) =>
      `It is ready. ${agents} ${one ? 'has' : 'have'} room for it, and ${one ? 'takes' : 'take'} the best ranked task with the next claim.`,
  },
  full: {
    code: 'agents_full',
    say: (agents, one) =>
      `${agents} ${one ? 'holds' : 'hold'} as many tasks as ${one ? 'it' : 'they'} may.`,
  },
  draining: {
    code: 'agents_draining',
    say: (agents, one) =>
      `${agents} ${one ? 'is' : 'are'} draining and ${one ? 'takes' : 'take'} no new tasks.`,
  },
  offline: {
    code: 'agents_offline',
    say: (agents, one) => `${agents} ${one ? 'has' : 'have'} not been heard of lately.`,
  },
  disabled: {
    code: 'agents_disabled',
    say: (agents, one) =>
      `${agents} ${one ? 'is' : 'are'} switched off: the coordinator gives ${one ? 'it' : 'them'} nothing.`,
  },
};

/** What the agents that could take the task have to do with its waiting. */
export function agentReasons(facts: ExplainFacts): Reason[] {
  const groups = facts.agents.filter((group) => group.count > 0);
  if (groups.length === 0) return [noCapableAgent(facts)];
  const free = groups.find((group) => group.standing === 'free');
  // Where one is free, what the others do is no reason.
  return (free ? [free] : groups).map(reasonOf);
}

function reasonOf({ standing, count, agents }: AgentGroup): Reason {
  const { code, say } = SENTENCES[standing];
  const message = say(nameThem(count, agents), count === 1);
  return { code, message, facts: { count, agents } };
}

function nameThem(count: number, agents: readonly { name: string }[]): string {
  const names = agents.map(({ name }) => `"${name}"`).join(', ');
  if (count === 1) return `The agent ${names}`;
  const others = count > agents.length ? ` and ${count - agents.length} more` : '';
  return `${count} agents with its capabilities (${names}${others})`;
}

function noCapableAgent({ task, missingCapabilities }: ExplainFacts): Reason {
  const { requiredCapabilities } = task;
  return {
    code: 'no_capable_agent',
    message: sentence(requiredCapabilities, missingCapabilities),
    facts: { requiredCapabilities, missingCapabilities },
  };
}

function sentence(required: readonly string[], missing: readonly string[]): string {
  if (required.length === 0) return 'No agent is registered in this workspace.';
  if (missing.length > 0) return `No registered agent has ${list(missing)}.`;
  return `No registered agent has all of ${list(required)}; each is had by some agent.`;
}

function list(capabilities: readonly string[]): string {
  return capabilities.map((name) => `"${name}"`).join(', ');
}
