import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { misuse } from '../failure.js';
import { findLocal, LOCAL } from './local.js';

/** A server, and how to sign in to it. */
export interface Context {
  url: string;
  workspaceId?: string;
  apiKey?: string;
  /** The pair of a person that has signed in. */
  tokens?: Tokens;
}

export interface Tokens {
  accessToken: string;
  /** When the access token ends, in ms since 1970. */
  endsAt: number;
  refreshToken: string;
}

interface File {
  current?: string;
  contexts: Record<string, Context>;
}

/** The contexts of a person: a file of mode 600, since it holds credentials. */
export class Contexts {
  constructor(
    readonly path: string,
    private readonly local: () => Context | undefined = findLocal,
  ) {}

  static ofPerson(env: NodeJS.ProcessEnv = process.env): Contexts {
    const folder = env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
    return new Contexts(env['DROVER_CONFIG'] || join(folder, 'drover', 'config.json'));
  }

  list(): { name: string; context: Context; current: boolean }[] {
    const { contexts } = this.read();
    const local = this.find(LOCAL, contexts);
    // The one of here comes first.
    const here = local && { [LOCAL]: local };
    const all = { ...here, ...contexts, ...here };
    const current = this.currentName();
    return Object.entries(all).map(([name, context]) => ({
      name,
      context,
      current: name === current,
    }));
  }

  /** The chosen one; else the one that `drover up` made in this folder. */
  currentName(): string | undefined {
    const { current } = this.read();
    return current ?? (this.local() ? LOCAL : undefined);
  }

  /** @throws Failure when there is none of this name */
  get(name: string): Context {
    const context = this.find(name, this.read().contexts);
    if (context === undefined)
      throw misuse(`There is no context "${name}".`, 'See them with `drover context list`.');
    return context;
  }

  put(name: string, context: Context, options: { use?: boolean } = {}): void {
    this.change((file) => {
      file.contexts[name] = context;
      if (options.use || file.current === undefined) file.current = name;
    });
  }

  /** The next pair after `ended`. Whoever has signed in or out meanwhile, or changed the context, has the last word. */
  renewTokens(name: string, ended: Tokens, next: Tokens): void {
    this.change(({ contexts }) => {
      const context = contexts[name];
      if (context?.tokens?.refreshToken === ended.refreshToken) context.tokens = next;
    });
  }

  use(name: string): void {
    this.get(name);
    this.change((file) => {
      file.current = name;
    });
  }

  remove(name: string): void {
    this.get(name);
    this.change((file) => {
      delete file.contexts[name];
      if (file.current === name) delete file.current;
    });
  }

  /** What was started here may have another port each time. */
  private find(name: string, contexts: File['contexts']): Context | undefined {
    const kept = contexts[name];
    const local = name === LOCAL ? this.local() : undefined;
    return kept && local ? { ...kept, url: local.url } : (kept ?? local);
  }

  private read(): File {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} };
      throw misuse(`${this.path} cannot be read: ${(error as Error).message}.`, CORRECT);
    }
    try {
      const file = JSON.parse(text) as Partial<File>;
      return { ...file, contexts: { ...file.contexts } };
    } catch {
      throw misuse(`${this.path} is not JSON.`, CORRECT);
    }
  }

  private change(edit: (file: File) => void): void {
    const file = this.read();
    edit(file);
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, this.path);
  }
}

const CORRECT = 'Mend or remove the file, or name another one in DROVER_CONFIG.';
