import type { AgentEvent, FileDiff } from '#lib/agent-kinds';
import type { Circle } from '../judge/progress-judge.js';

/** Part of a session: an event, the milliseconds before it, and the tokens used for it. */
export interface Moment {
  event?: AgentEvent;
  afterMs: number;
  tokens: number;
  /** The state of all files, if a snapshot was made. */
  tree?: string;
}

export interface LabelledSession {
  name: string;
  /** The circle in which it is stuck. Null: it is healthy. */
  circle: Circle | null;
  /** Thresholds were fixed on `known`; figures are those of `unknown`. */
  half: 'known' | 'unknown';
  moments: Moment[];
}

/** A seeded generator, so that each run judges the same sessions (Mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Writes a session as an agent would, with the durations and tokens of real ones. */
class Script {
  readonly moments: Moment[] = [];
  private calls = 0;
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = random(seed);
  }

  between(from: number, to: number): number {
    return Math.floor(from + this.next() * (to - from + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  say(text: string): this {
    const event = { type: 'message', text, delta: false } as const;
    return this.push(event, this.between(1_000, 6_000), this.between(200, 900));
  }

  run(command: string, output: string, { ok = true, tookMs = this.between(40, 3_000) } = {}): this {
    return this.call('shell', { command }, command, { ok, output, tookMs });
  }

  snapshot(tree: string): this {
    this.moments.push({ afterMs: 0, tokens: 0, tree });
    return this;
  }

  read(path: string, output = `contents of ${path}`): this {
    const result = { ok: true, output, tookMs: this.between(5, 60) };
    return this.call('read', { path }, `Read ${path}`, result);
  }

  edit(path: string, from: string, to: string): this {
    const diff = `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}`;
    const result = { ok: true, output: 'done', tookMs: 20, diffs: [{ path, diff }] };
    return this.call('edit', { path, from, to }, `Edit ${path}`, result);
  }

  /** Time as a test runner tells it, which differs each time. */
  seconds(): string {
    return `Time: ${(this.between(100, 900) / 100).toFixed(2)} s`;
  }

  private call(
    name: string,
    input: object,
    title: string,
    result: { ok: boolean; output: string; tookMs: number; diffs?: FileDiff[] },
  ): this {
    const id = `call-${++this.calls}`;
    const { tookMs, ...rest } = result;
    const thinkingMs = this.between(1_500, 12_000);
    const tokens = this.between(3_000, 40_000);
    this.push({ type: 'tool_call', id, name, title, input }, thinkingMs, tokens);
    return this.push({ type: 'tool_result', id, ...rest }, tookMs, 0);
  }

  private push(event: AgentEvent, afterMs: number, tokens: number): this {
    this.moments.push({ event, afterMs, tokens });
    return this;
  }
}

type Half = LabelledSession['half'];
type Write = (script: Script) => void;

/** Work before a circle begins: some files are read, one is changed, tests run. */
const begin: Write = (s) => {
  s.say('I will look at the project first.');
  for (let i = s.between(2, 8); i > 0; i--) s.read(`src/part-${i}.ts`);
  if (s.chance(0.7)) s.edit('src/date.ts', 'old', `new ${s.between(1, 99)}`);
  s.run('npm test', `1 failed\n${s.seconds()}`, { ok: false, tookMs: s.between(2_000, 9_000) });
};

const STUCK: Record<Circle, Write> = {
  same_call: (s) => {
    const command = s.chance(0.5) ? 'npm run lint' : 'git status';
    for (let i = 0; i < 30; i++) {
      if (s.chance(0.4)) s.say(`Let me check once more, attempt ${'again '.repeat(i)}`);
      s.run(command, `nothing to do\n${s.seconds()}`);
      if (s.chance(0.12)) s.read(`docs/other-${i}.md`);
    }
  },
  cycle: (s) => {
    const length = s.between(2, 4);
    for (let i = 0; i < 40; i++) {
      const part = i % length;
      if (part === 0) s.read('src/date.ts');
      else s.run(`grep -n week src/date-${part}.ts`, `${part}: week`);
      if (s.chance(0.1)) s.read(`docs/page-${i}.md`);
    }
  },
  same_error: (s) => {
    for (let i = 0; i < 30; i++) {
      s.edit('src/date.ts', `try ${i}`, `try ${i + 1} ${s.between(1, 1e6)}`);
      const line = s.between(10, 90);
      const output = `TypeError: week is not a function\n    at src/date.ts:${line}\n${s.seconds()}`;
      if (s.chance(0.3)) s.read(`src/help-${i}.ts`);
      s.run('npm test', output, { ok: false, tookMs: s.between(1_000, 20_000) });
    }
  },
  undone_edits: (s) => {
    const states = Array.from({ length: s.between(2, 3) }, (_, i) => `variant ${i}`);
    for (let i = 0; i < 30; i++) {
      const [from, to] = [states[i % states.length]!, states[(i + 1) % states.length]!];
      s.edit('src/date.ts', from, to);
      if (s.chance(0.2)) s.read(`src/look-${i}.ts`);
      if (s.chance(0.5)) s.run('npm run build', `built\n${s.seconds()}`, { tookMs: 4_000 });
    }
  },
  same_words: (s) => {
    const text = 'The tests should pass now. I will verify that everything works as expected.';
    for (let i = 0; i < 25; i++) {
      s.say(s.chance(0.5) ? text : text.toUpperCase());
      if (s.chance(0.3)) s.run('true', '(no output)');
      if (s.chance(0.1)) s.read(`src/new-${i}.ts`);
    }
  },
  no_change: (s) => {
    s.edit('src/date.ts', 'a', 'b');
    for (let i = 0; i < 450; i++) {
      s.read(`node_modules/pkg-${i}/index.js`, `module ${i} ${s.between(1, 1e6)}`);
    }
  },
};

const HEALTHY: Record<string, Write> = {
  'test-driven work': (s) => {
    for (let i = 0; i < 25; i++) {
      s.edit(`src/part-${i % 6}.ts`, `step ${i}`, `step ${i + 1}`);
      const isRed = s.chance(0.4);
      const output = isRed ? `expected ${i} to be ${i + 1}` : 'all tests passed';
      s.run('npm test', `${output}\n${s.seconds()}`, { ok: !isRed, tookMs: s.between(1e3, 9e3) });
    }
  },
  'a stubborn bug': (s) => {
    const most = s.between(5, 8);
    for (let i = 0; i < most; i++) {
      s.read(`src/other-${i}.ts`);
      s.edit('src/date.ts', `try ${i}`, `try ${i + 1}`);
      s.run('npm test', `TypeError: x is undefined at ${i}\n${s.seconds()}`, { ok: false });
    }
    s.run('npm test', `all tests passed\n${s.seconds()}`);
  },
  'a flaky test': (s) => {
    for (let i = 0; i < 14; i++) {
      const isRed = s.chance(0.4);
      const output = isRed ? 'Error: socket hang up' : 'all tests passed';
      s.run('npm test', `${output}\n${s.seconds()}`, { ok: !isRed, tookMs: s.between(8e3, 4e4) });
      if (s.chance(0.6)) s.edit('src/socket.ts', `wait ${i}`, `wait ${i + 1}`);
    }
  },
  'a careful agent': (s) => {
    for (let i = 0; i < 30; i++) {
      s.read(`src/part-${i}.ts`, `part ${i}`);
      s.run('git status --short', ' M src/date.ts');
      if (s.chance(0.3)) s.read('src/date.ts');
      if (s.chance(0.3)) s.edit(`src/part-${i}.ts`, 'x', `y ${i}`);
    }
  },
  'searches without a hit': (s) => {
    for (let i = 0; i < 30; i++) {
      s.run(`rg -l week-${i} src`, '', { ok: false });
      if (s.chance(0.3)) s.run(`test -f src/week-${i}.ts`, 'Exit code 1', { ok: false });
    }
    s.edit('src/week.ts', '', 'week');
  },
  'a service that starts': (s) => {
    for (let i = 0; i < 5; i++) {
      s.run('curl -s localhost:8080/health', 'connection refused', { ok: false });
      s.run('sleep 5', '(no output)', { tookMs: 5_000 });
    }
    s.run('curl -s localhost:8080/health', 'ok').edit('src/x.ts', 'a', 'b');
  },
  'a slow build': (s) => {
    for (let i = 0; i < 30; i++) {
      s.run('sleep 30', '(no output)', { tookMs: 30_000 });
      s.run('tail -1 build.log', i < 25 ? 'compiling …' : `linking ${i}`);
    }
  },
  'long silent tools': (s) => {
    for (let i = 0; i < 12; i++) {
      s.run('make -j2', 'make: done', { tookMs: s.between(60_000, 1_800_000) });
      if (s.chance(0.5)) s.edit(`src/unit-${i}.c`, 'a', `b ${i}`);
    }
  },
  'a wide exploration': (s) => {
    for (let i = 0; i < 60; i++) {
      s.read(`src/module-${i}.ts`, `module ${s.between(1, 1e9)}`);
      if (s.chance(0.2)) s.read(`src/module-${s.between(0, i)}.ts`, 'again');
    }
    s.edit('docs/report.md', '', 'what I found');
  },
  'one edit in many files': (s) => {
    for (let i = 0; i < 50; i++) s.edit(`src/file-${i}.ts`, 'import a', 'import b');
    for (let i = 0; i < 3; i++) s.run('npm run lint', `clean\n${s.seconds()}`);
    s.edit('src/file-1.ts', 'import b', 'import a').edit('src/file-1.ts', 'import a', 'import b');
    s.say('All imports are renamed, and the tests pass.');
  },
  'edits by a shell': (s) => {
    for (let i = 0; i < 60; i++) {
      for (let j = 0; j < 9; j++) s.read(`src/old-${i}-${j}.ts`, `old ${i} ${j}`);
      s.run(`sed -i s/old/new/ src/old-${i}-*.ts`, '').snapshot(`tree ${i}`);
    }
  },
};

const PER_CLASS = 10;

/** Sessions that are stuck in six ways, and healthy ones of eleven sorts, all generated. */
export function labelledSessions(): LabelledSession[] {
  const sessions: LabelledSession[] = [];
  const write = (name: string, circle: Circle | null, parts: Write[], half: Half) => {
    const seed = sessions.length + 1;
    const script = new Script(seed);
    for (const part of parts) part(script);
    const { moments } = script;
    sessions.push({ name: `${name} ${seed}`, circle, half, moments });
  };
  for (let i = 0; i < PER_CLASS; i++) {
    const half = i % 2 === 0 ? 'known' : 'unknown';
    for (const [name, part] of Object.entries(STUCK)) {
      write(name, name as Circle, [begin, part], half);
    }
    for (const [name, part] of Object.entries(HEALTHY)) write(name, null, [begin, part], half);
  }
  return sessions;
}
