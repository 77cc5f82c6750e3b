/** Ids in one message at most: a message that is too long blocks the others behind it. */
const IDS_PER_MESSAGE = 1_000;

/** What other servers are to be told, gathered over a burst. */
export class News {
  readonly claims = new Map<string, number>();
  readonly agents = new Set<string>();
  coordinator = false;
  resync = false;

  addClaims(workspaceId: string, count: number): void {
    this.claims.set(workspaceId, (this.claims.get(workspaceId) ?? 0) + count);
  }

  isEmpty(): boolean {
    return this.claims.size === 0 && this.agents.size === 0 && !this.coordinator && !this.resync;
  }
}

interface Wire {
  claims?: [string, number][];
  agents?: string[];
  coordinator?: true;
  resync?: true;
}

/**
 * The sender stands before the JSON, so that a process knows its own messages without parsing them.
 * Messages without news are none.
 */
export function encodeNews(sender: string, news: News): string[] {
  const claims = [...news.claims];
  const agents = [...news.agents];
  const messages: Wire[] = [];
  const parts = Math.ceil(Math.max(claims.length, agents.length) / IDS_PER_MESSAGE);
  for (let part = 0; part < Math.max(parts, 1); part++) {
    const [from, to] = [part * IDS_PER_MESSAGE, (part + 1) * IDS_PER_MESSAGE];
    const wire: Wire = {};
    if (claims.length > from) wire.claims = claims.slice(from, to);
    if (agents.length > from) wire.agents = agents.slice(from, to);
    if (part === 0 && news.coordinator) wire.coordinator = true;
    if (part === 0 && news.resync) wire.resync = true;
    if (Object.keys(wire).length > 0) messages.push(wire);
  }
  return messages.map((wire) => `${sender} ${JSON.stringify(wire)}`);
}

/** The news of another sender; undefined for our own, and for what is none (a newer server's, say). */
export function decodeNews(self: string, message: string): News | undefined {
  if (message.startsWith(`${self} `)) return undefined;
  const wire = parseObject(message.slice(message.indexOf(' ') + 1));
  if (!wire) return undefined;
  const news = new News();
  for (const entry of listOf(wire['claims'])) {
    const [id, count] = listOf(entry);
    if (typeof id === 'string' && typeof count === 'number') news.addClaims(id, count);
  }
  for (const id of listOf(wire['agents'])) if (typeof id === 'string') news.agents.add(id);
  news.coordinator = wire['coordinator'] === true;
  news.resync = wire['resync'] === true;
  return news.isEmpty() ? undefined : news;
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
