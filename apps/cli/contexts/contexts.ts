import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { usageError } from '../failure.js';
import { findLocal, LOCAL } from './local.js';

/** A server and its credentials. */
export interface Context {
  url: string;
  workspaceId?: string;
  apiKey?: string;
  /** The tokens of a signed-in user. */
  tokens?: Tokens;
}

export interface Tokens {
  accessToken: string;
  /** Expiry of the access token, in Unix milliseconds. */
  endsAt: number;
  refreshToken: string;
}

interface File {
  current?: string;
  contexts: Record<string, Context>;
}

/** The contexts of the user. The file has mode 600, because it contains credentials. */
export class Contexts {
  constructor(
    readonly path: string,
    private readonly local: () => Context | undefined = findLocal,
  ) {}

  static ofUser(env: NodeJS.ProcessEnv = process.env): Contexts {
    const folder = env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
    return new Contexts(env['DROVER_CONFIG'] || join(folder, 'drover', 'config.json'));
  }

  list(): { name: string; context: Context; current: boolean }[] {
    const { contexts } = this.read();
    const local = this.find(LOCAL, contexts);
    // The local context comes first.
    const here = local && { [LOCAL]: local };
    const all = { ...here, ...contexts, ...here };
    const current = this.currentName();
    return Object.entries(all).map(([name, context]) => ({
      name,
      context,
      current: name === current,
    }));
  }

  /** The current context, else the context of `drover up`. */
  currentName(): string | undefined {
    const { current } = this.read();
    return current ?? (this.local() ? LOCAL : undefined);
  }

  /** @throws Failure if there is no such context */
  get(name: string): Context {
    const context = this.find(name, this.read().contexts);
    if (context === undefined)
      throw usageError(
        `There is no context "${name}".`,
        'List the contexts with `drover context list`.',
      );
    return context;
  }

  put(name: string, context: Context, options: { use?: boolean } = {}): void {
    this.update((file) => {
      file.contexts[name] = context;
      if (options.use || file.current === undefined) file.current = name;
    });
  }

  /** Stores the pair that follows `ended`. A concurrent sign-in or sign-out wins. */
  renewTokens(name: string, ended: Tokens, next: Tokens): void {
    this.update(({ contexts }) => {
      const context = contexts[name];
      if (context?.tokens?.refreshToken === ended.refreshToken) context.tokens = next;
    });
  }

  use(name: string): void {
    this.get(name);
    this.update((file) => {
      file.current = name;
    });
  }

  remove(name: string): void {
    this.get(name);
    this.update((file) => {
      delete file.contexts[name];
      if (file.current === name) delete file.current;
    });
  }

  /** `drover up` can use another port at each start, so the local address is read anew. */
  private find(name: string, contexts: File['contexts']): Context | undefined {
    const stored = contexts[name];
    const local = name === LOCAL ? this.local() : undefined;
    return stored && local ? { ...stored, url: local.url } : (stored ?? local);
  }

  private read(): File {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} };
      throw usageError(`Cannot read ${this.path}: ${(error as Error).message}.`, FILE_ADVICE);
    }
    try {
      const file = JSON.parse(text) as Partial<File>;
      return { ...file, contexts: { ...file.contexts } };
    } catch {
      throw usageError(`${this.path} is not JSON.`, FILE_ADVICE);
    }
  }

  private update(edit: (file: File) => void): void {
    const file = this.read();
    edit(file);
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, this.path);
  }
}

const FILE_ADVICE = 'Fix or remove the file, or set DROVER_CONFIG to another file.';
