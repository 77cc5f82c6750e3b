/** A push agent with room, locked. */
export interface FreeAgent {
  workspaceId: string;
  agentId: string;
  capabilities: readonly string[];
  /** Only tasks that require all of these capabilities are assigned to it. */
  dedicatedTo: readonly string[];
  /** Only tasks of these types are assigned to it; empty: tasks of all types. */
  taskTypes: readonly string[];
  /** The runs that the agent holds, and the most that it may hold at once. */
  liveRuns: number;
  maxRuns: number;
  /** Runs held by all push agents of its workspace, full agents included. */
  workspaceRuns: number;
}

/** A task at the head of its queue, locked. */
export interface ReadyTask {
  workspaceId: string;
  taskId: string;
  taskType: string;
  requiredCapabilities: readonly string[];
  /** Lower is sooner; see the SQL function queue_rank. */
  queueRank: bigint;
}

/** The number of sessions that may be started now. */
export interface Allowance {
  /** For all workspaces together. */
  total: number;
  /** Limits of single workspaces; a workspace that is absent has no limit of its own. */
  ofWorkspace: ReadonlyMap<string, number>;
}

export interface Assignment {
  workspaceId: string;
  taskId: string;
  agentId: string;
}

interface Candidate extends FreeAgent {
  runs: number;
}

interface Place {
  workspaceId: string;
  /** Live runs of the workspace's push agents, with those of this plan. */
  runs: number;
  left: number;
  tasks: ReadyTask[];
  agents: Candidate[];
}

/**
 * Plans the assignment of tasks to push agents.
 *
 * Between workspaces: the next task goes to the workspace whose push agents hold the fewest runs,
 * so that no backlog delays another workspace's first task (max-min fairness over the available
 * sessions). Within a workspace: the task of the lowest rank that some agent can take goes to the
 * least busy agent that can take it, and among equally busy agents to the one with the fewest
 * capabilities. More capable agents stay free for tasks that only they can do.
 */
export function planAssignments(
  agents: readonly FreeAgent[],
  tasks: readonly ReadyTask[],
  allowance: Allowance,
): Assignment[] {
  const places = placesOf(agents, tasks, allowance);
  const plan: Assignment[] = [];
  while (plan.length < allowance.total) {
    const place = hungriest(places);
    if (!place) break;
    const next = nextOf(place);
    if (next) plan.push(next);
    else place.left = 0;
  }
  return plan;
}

function placesOf(
  agents: readonly FreeAgent[],
  tasks: readonly ReadyTask[],
  { ofWorkspace }: Allowance,
): Place[] {
  const places = new Map<string, Place>();
  for (const agent of agents) {
    const { workspaceId, liveRuns } = agent;
    const place = places.get(workspaceId) ?? {
      workspaceId,
      runs: agent.workspaceRuns,
      left: ofWorkspace.get(workspaceId) ?? Number.POSITIVE_INFINITY,
      tasks: [],
      agents: [],
    };
    place.agents.push({ ...agent, runs: liveRuns });
    places.set(workspaceId, place);
  }
  const inOrder = [...tasks].sort((one, other) => (one.queueRank < other.queueRank ? -1 : 1));
  for (const task of inOrder) places.get(task.workspaceId)?.tasks.push(task);
  return [...places.values()];
}

/** Among workspaces with equally few runs: the one whose first task waits longest. */
function hungriest(places: readonly Place[]): Place | undefined {
  let best: Place | undefined;
  for (const place of places) {
    if (place.left <= 0 || place.tasks.length === 0) continue;
    if (!best || isHungrier(place, best)) best = place;
  }
  return best;
}

function isHungrier(one: Place, other: Place): boolean {
  if (one.runs !== other.runs) return one.runs < other.runs;
  return rankOfFirst(one) < rankOfFirst(other);
}

function rankOfFirst(place: Place): bigint {
  return place.tasks[0]?.queueRank ?? 0n;
}

function nextOf(place: Place): Assignment | undefined {
  for (const [index, task] of place.tasks.entries()) {
    const agent = bestFor(task, place.agents);
    if (!agent) continue;
    place.tasks.splice(0, index + 1);
    agent.runs += 1;
    place.runs += 1;
    place.left -= 1;
    return { workspaceId: place.workspaceId, taskId: task.taskId, agentId: agent.agentId };
  }
  return undefined;
}

function bestFor(task: ReadyTask, agents: readonly Candidate[]): Candidate | undefined {
  let best: Candidate | undefined;
  for (const agent of agents) {
    if (agent.runs >= agent.maxRuns || !canTake(agent, task)) continue;
    if (!best || suitsBetter(agent, best)) best = agent;
  }
  return best;
}

function canTake(
  { capabilities, dedicatedTo, taskTypes }: FreeAgent,
  { taskType, requiredCapabilities }: ReadyTask,
): boolean {
  return (
    requiredCapabilities.every((one) => capabilities.includes(one)) &&
    dedicatedTo.every((one) => requiredCapabilities.includes(one)) &&
    (taskTypes.length === 0 || taskTypes.includes(taskType))
  );
}

function suitsBetter(one: Candidate, other: Candidate): boolean {
  if (one.runs !== other.runs) return one.runs < other.runs;
  return one.capabilities.length < other.capabilities.length;
}
