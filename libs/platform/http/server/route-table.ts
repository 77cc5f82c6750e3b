import type { FastifyInstance } from 'fastify';

interface Entry {
  methods: Set<string>;
  pattern: RegExp;
}

/**
 * The methods of each path, to answer 405 instead of 404. It is used only when no route matched.
 */
export class RouteTable {
  private readonly entries = new Map<string, Entry>();

  /** Records every route that is added to the instance from now on. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }) => {
      for (const name of [method].flat()) this.note(url, name);
    });
  }

  /** The methods of a path in alphabetical order. Empty if the path does not exist. */
  methodsOf(path: string): string[] {
    const matching = [...this.entries.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  }

  private note(url: string, method: string): void {
    // Catch-all routes do not tell which paths exist.
    if (url.includes('*')) return;
    const entry = this.entries.get(url) ?? { methods: new Set(), pattern: patternOf(url) };
    entry.methods.add(method);
    this.entries.set(url, entry);
  }
}

function patternOf(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : escape(segment)));
  return new RegExp(`^${segments.join('/')}$`);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
