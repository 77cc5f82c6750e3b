/** Maximum number of ids in one message. A longer message would block those behind it. */
const IDS_PER_MESSAGE = 1_000;

/** Wake-ups for other servers, collected over some milliseconds. */
export class WakeUpBatch {
  readonly claims = new Map<string, number>();
  readonly agents = new Set<string>();
  /** Workspaces with steps of changes that are due. */
  readonly steps = new Set<string>();
  /** Tasks with new lines in their logs. */
  readonly logs = new Set<string>();
  coordinator = false;
  resync = false;

  addClaims(workspaceId: string, count: number): void {
    this.claims.set(workspaceId, (this.claims.get(workspaceId) ?? 0) + count);
  }

  isEmpty(): boolean {
    const { claims, agents, steps, logs } = this;
    const ids = claims.size + agents.size + steps.size + logs.size;
    return ids === 0 && !this.coordinator && !this.resync;
  }
}

interface Wire {
  claims?: [string, number][];
  agents?: string[];
  steps?: string[];
  logs?: string[];
  coordinator?: true;
  resync?: true;
}

/**
 * The sender stands before the JSON, so that a process recognises its own messages without parsing.
 * An empty batch makes no message.
 */
export function encodeWakeUps(sender: string, batch: WakeUpBatch): string[] {
  const claims = [...batch.claims];
  const agents = [...batch.agents];
  const steps = [...batch.steps];
  const logs = [...batch.logs];
  const messages: Wire[] = [];
  const longest = Math.max(claims.length, agents.length, steps.length, logs.length);
  const parts = Math.ceil(longest / IDS_PER_MESSAGE);
  for (let part = 0; part < Math.max(parts, 1); part++) {
    const [from, to] = [part * IDS_PER_MESSAGE, (part + 1) * IDS_PER_MESSAGE];
    const wire: Wire = {};
    if (claims.length > from) wire.claims = claims.slice(from, to);
    if (agents.length > from) wire.agents = agents.slice(from, to);
    if (steps.length > from) wire.steps = steps.slice(from, to);
    if (logs.length > from) wire.logs = logs.slice(from, to);
    if (part === 0 && batch.coordinator) wire.coordinator = true;
    if (part === 0 && batch.resync) wire.resync = true;
    if (Object.keys(wire).length > 0) messages.push(wire);
  }
  return messages.map((wire) => `${sender} ${JSON.stringify(wire)}`);
}

/**
 * The wake-ups of another sender. Undefined for the process's own message, and for one without
 * wake-ups, for example of a newer server.
 */
export function decodeWakeUps(self: string, message: string): WakeUpBatch | undefined {
  if (message.startsWith(`${self} `)) return undefined;
  const wire = parseObject(message.slice(message.indexOf(' ') + 1));
  if (!wire) return undefined;
  const batch = new WakeUpBatch();
  for (const entry of listOf(wire['claims'])) {
    const [id, count] = listOf(entry);
    if (typeof id === 'string' && typeof count === 'number') batch.addClaims(id, count);
  }
  for (const id of listOf(wire['agents'])) if (typeof id === 'string') batch.agents.add(id);
  for (const id of listOf(wire['steps'])) if (typeof id === 'string') batch.steps.add(id);
  for (const id of listOf(wire['logs'])) if (typeof id === 'string') batch.logs.add(id);
  batch.coordinator = wire['coordinator'] === true;
  batch.resync = wire['resync'] === true;
  return batch.isEmpty() ? undefined : batch;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
