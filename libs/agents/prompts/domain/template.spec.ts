import { describe, expect, it } from '@jest/globals';
import { DEFAULT_TEMPLATE, RESUMED_TEMPLATE } from './default-template.js';
import type { ConversationEntry } from './past-calls.js';
import type { PromptFacts } from './sections.js';
import { errorInTemplate, fitPrompt, MAX_PROMPT, renderPrompt } from './template.js';

function facts(changes: Partial<PromptFacts> = {}): PromptFacts {
  return {
    title: 'Mend the parser',
    description: null,
    instructions: null,
    steps: [],
    deliverables: [],
    acceptance: [],
    acceptanceScript: null,
    inputContext: {},
    checkpointData: {},
    continued: null,
    change: null,
    answers: [],
    prerequisites: [],
    runs: [],
    messages: [],
    entries: [],
    beginning: 'new',
    lostFiles: [],
    ...changes,
  };
}

const EARLIER = 'earlier-run';
const LAST = 'last-run';

function entry(event: string, message: string, rest: Partial<ConversationEntry> = {}) {
  const [tool, input] =
    event === 'agent_tool' ? ['shell', `{"command":"${message}"}`] : [null, null];
  const of = { runId: LAST, isLater: false, call: null };
  return { event, level: 'INFO', message, tool, input, ...of, ...rest };
}

const prompt = (changes: Partial<PromptFacts> = {}, template = DEFAULT_TEMPLATE) =>
  renderPrompt(template, facts(changes));

describe('the prompt of the default template', () => {
  it("Drover's own templates have no error", () => {
    expect([DEFAULT_TEMPLATE, RESUMED_TEMPLATE].map(errorInTemplate)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('a task with a title only has no empty section', () => {
    expect(prompt({ description: ' ', instructions: '' })).toBe(
      '# Mend the parser\n\nWhen you are done, end with a short summary of the results.',
    );
  });

  it('runs that completed are not said to have failed', () => {
    const endedAt = '2026-11-26T02:00:00Z';
    const nothing = { error: null, errorClass: null, branch: null, exitCode: 0, output: null };
    const runs = [{ number: 1, endedAt, endReason: 'completed', ...nothing }];
    expect(prompt({ runs })).toContain(
      '## Earlier runs\n\n' +
        'Check the files before you change them: these runs of the task can have changed them.\n\n' +
        `- Run 1 ended at ${endedAt}: completed\n\n`,
    );
  });

  it('a change that came back tells its proof, its review and its conflict', () => {
    const feedback = [
      { kind: 'proof' as const, verdict: 'red', body: '1 failed ```', exitCode: 1 },
      { kind: 'review' as const, verdict: 'changes_requested', body: 'Nearly.', exitCode: null },
      { kind: 'rebase' as const, verdict: 'conflict', body: 'src/a.ts', exitCode: null },
    ].map((one) => ({
      ...one,
      author: 'user:1',
      isOnTarget: false,
      comments: [] as { path: string; line: number; text: string }[],
    }));
    feedback[1]?.comments.push({ path: 'src/a.ts', line: 3, text: 'Use the parser.' });
    const change = {
      repository: 'shop',
      branch: 'codex/1',
      target: 'main',
      path: 'packages/shop',
      acceptance: 'npm test',
      feedback,
    };
    const text = prompt({ change });
    expect(text).toContain('repository shop, on your own branch codex/1.');
    expect(text).toContain('You start in its folder packages/shop.');
    expect(text).toContain('```bash\nnpm test\n```');
    const resumed = prompt({ change, beginning: 'resumed' }, RESUMED_TEMPLATE);
    for (const one of [text, resumed]) {
      expect(one).toContain(
        'exit code 1. This is the end of its output:\n\n````\n1 failed ```\n````',
      );
      expect(one).toContain('### Review by user:1\n\nNearly.\n\n- src/a.ts:3: Use the parser.');
      expect(one).toContain(
        'Edit these files so that they have both changes, and remove the marks.',
      );
    }
    expect(resumed).not.toContain('Your session was interrupted');
    expect(prompt({ change }, 'Only {{title}}')).toContain('Nearly.');
  });

  it('each part of a task and its past has a section', () => {
    const text = prompt({
      description: 'ISO weeks fail.',
      instructions: 'Use <no> library & no "quotes".',
      steps: ['Read', 'Write'],
      deliverables: ['A test'],
      acceptance: ['npm test'],
      inputContext: { file: 'parser.ts' },
      checkpointData: { page: 7 },
      answers: [{ prompt: 'Which year?', answer: '2026' }],
      prerequisites: [
        {
          id: '1',
          title: 'Find it',
          status: 'COMPLETED',
          summary: 'Found.',
          result: '{"line": 7}',
        },
      ],
      runs: [
        {
          number: 1,
          endedAt: '2026-11-26T02:00:00Z',
          endReason: 'failed',
          error: 'Out of\nmemory',
          errorClass: 'oom',
          branch: 'drover/1',
          exitCode: null,
          output: null,
        },
      ],
      messages: [{ type: 'review', text: 'Mind the weeks.', data: null, isDelivered: false }],
      entries: [entry('agent_message', 'I read the file.')],
    });
    expect(text.split('\n\n').filter((part) => /^##? /.test(part))).toEqual([
      '# Mend the parser',
      '## Instructions',
      '## Steps',
      '## Deliverables',
      '## Acceptance',
      '## Input',
      '## Results of earlier tasks',
      '## Earlier runs',
      '## Checkpoint of the earlier run',
      '## Answers of people',
      '## Messages of people',
      '## End of the earlier conversation',
    ]);
    expect(text).not.toMatch(/\n{3}/);
    for (const part of [
      'Use <no> library & no "quotes".',
      '1. Read\n2. Write',
      '```json\n{\n  "file": "parser.ts"\n}\n```',
      '### Find it (COMPLETED)\n\nFound.\n\n```json\n{"line": 7}\n```',
      '- Run 1 ended at 2026-11-26T02:00:00Z: failed; oom: Out of memory; branch drover/1',
      '## Checkpoint of the earlier run\n\n```json\n{\n  "page": 7\n}\n```',
      '- Which year?\n  Answer: 2026',
      '[review] Mind the weeks.',
      '\n\nI read the file.\n\n',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('a continued conversation begins with the words of the person', () => {
    const entries = [entry('agent_message', 'The parser is mended.')];
    const continued = { title: 'Mend the parser', summary: 'Mended.' };
    const instructions = 'Now add a test.';
    const text = prompt({ title: 'A test', instructions, continued, entries });
    expect(prompt({ continued })).toMatch(/## End of the earlier conversation[^]*\n\nMended\./);
    expect(text).toMatch(/^You have worked on "Mend the parser" before\. .*:\n\nNow add a test\./);
    expect(text).toMatch(/## End of the earlier conversation[^]*\n\nThe parser is mended\./);
    expect(text).not.toContain('## Instructions');
  });

  it('a resumed conversation begins with the news only', () => {
    const lostFiles = ['big.bin'];
    const text = prompt({ instructions: 'Mend it.', lostFiles }, RESUMED_TEMPLATE);
    expect(text).toMatch(/^Your session was interrupted\. Continue where you stopped\./);
    expect(text).toMatch(/## Files that no longer exist in the working folder\n\n- "big\.bin"$/);
    expect(text).not.toContain('Mend it.');
  });

  const CALLS = [
    entry('agent_tool', 'first', { runId: EARLIER, call: 9 }),
    entry('agent_message', 'I go on.'),
    entry('agent_tool', 'kept', { call: 1 }),
    entry('agent_tool_result', 'ok', { call: 1 }),
    entry('agent_tool', 'npm publish', { call: 2 }),
    entry('agent_tool', 'sleep', { call: 3 }),
    entry('agent_tool_result', '+ a@1\n  "ok"', { call: 2 }),
    entry('agent_tool', 'rm', { call: 1, runId: 'later', isLater: true }),
    entry('agent_tool_result', 'no such file', {
      call: 1,
      runId: 'later',
      isLater: true,
      level: 'WARN',
    }),
    entry('message_delivered', 'Hurry.'),
  ];

  it('a resumed conversation hears of the tool calls that it may lack', () => {
    const upTo = { runId: LAST, calls: 1 };
    const changes = { entries: CALLS, beginning: 'resumed', upTo } as const;
    for (const template of [RESUMED_TEMPLATE, DEFAULT_TEMPLATE]) {
      const text = prompt(changes, template);
      expect(text).toContain('Do not repeat a call that is done.');
      expect(text.split('\n').filter((line) => /^(- | {2}Call)/.test(line))).toEqual([
        '- done, with "+ a@1 \\"ok\\""',
        '  Call: shell {"command":"npm publish"}',
        '- may have happened',
        '  Call: shell {"command":"sleep"}',
        '- failed, with "no such file"',
        '  Call: shell {"command":"rm"}',
      ]);
    }
    const known = prompt({ ...changes, upTo: { runId: LAST, calls: 3 } }, RESUMED_TEMPLATE);
    expect(known.match(/ {2}Call: .*/g)).toEqual(['  Call: shell {"command":"rm"}']);
  });

  it('a new conversation hears of all tool calls and words', () => {
    expect(prompt({ entries: CALLS })).toContain(
      [
        '[tool] shell {"command":"first"}',
        'I go on.',
        '[tool] shell {"command":"kept"}',
        'done, with "ok"',
      ].join('\n'),
    );
    expect(prompt({ entries: CALLS })).toContain('\n[person] Hurry.\n');
  });

  it('many calls are cut to the last ones, and entries of other agents can say anything', () => {
    const many = Array.from({ length: 250 }, (_, number) => [
      entry('agent_tool', `call ${number} ${'x'.repeat(400)}`, { call: number, isLater: true }),
      entry('agent_tool_result', 'y'.repeat(400), { call: number }),
    ]).flat();
    const text = prompt({ entries: many, beginning: 'resumed' }, RESUMED_TEMPLATE);
    expect(text).toMatch(/- \d+ earlier calls are left out\n- done[^]*call 249 x/);
    expect(text.length).toBeLessThan(50_000);
    const odd = [1.5, 'x', {}, null].map((call) =>
      entry('agent_tool', 'odd', { call, isLater: true }),
    );
    const listed = prompt({ entries: odd, beginning: 'resumed' }, RESUMED_TEMPLATE);
    expect(listed.match(/may have happened\n/g)).toHaveLength(4);
  });

  it('text of a task is no template, and cannot end a fence', () => {
    const text = prompt({ instructions: '{{description}}', inputContext: { a: '````' } });
    expect(text).toContain('{{description}}');
    expect(text).toContain('`````json\n');
  });

  it('a long section and a long prompt are cut', () => {
    const long = 'x'.repeat(150_000);
    expect(prompt({ instructions: long })).toContain('[The rest is left out]\n\nWhen you are done');
    const template =
      '{{instructions}}{{instructions}}{{instructions}}{{description}}{{description}}';
    const cut = fitPrompt(prompt({ instructions: long, description: long }, template));
    expect(cut).toHaveLength(MAX_PROMPT);
    expect(cut).toMatch(/\[The rest of the prompt is left out\]$/);
  });
});

describe('a template', () => {
  it.each([
    ['{{foo}}', /^has the unknown placeholder "foo"; use title, /],
    ['{{constructor}}', /^has the unknown placeholder "constructor"/],
    ['{{#title}}{{__proto__}}{{/title}}', /^has the unknown placeholder "__proto__"/],
    ['{{#hasOwnProperty}}x{{/hasOwnProperty}}', /^has the unknown placeholder "hasOwnProperty"/],
    ['{{title.length}}', /^has the unknown placeholder "title.length"/],
    ['{{{foo}}}', /^has the unknown placeholder "foo"/],
    ['{{&foo}}', /^has the unknown placeholder "foo"/],
    ['{{> foo}}', /^must have no partials/],
    ['{{=<% %>=}}', /^must not change the delimiters/],
    ['{{#title}}', /^cannot be read: Unclosed section "title"/],
    ['{{title', /^cannot be read: Unclosed tag/],
    ['{{input}}'.repeat(4), /^must insert input at most 3 times/],
  ])('%s is refused', (template, why) => {
    expect(errorInTemplate(template)).toMatch(why);
  });

  it('a section can depend on the presence of a part', () => {
    const template = '{{! a note }}{{#steps}}Do:\n{{{steps}}}{{/steps}}{{^steps}}Think.{{/steps}}';
    expect(errorInTemplate(template)).toBeUndefined();
    expect(prompt({ steps: ['Read'] }, template)).toBe('Do:\n1. Read');
    expect(prompt({}, template)).toBe('Think.');
  });

  it('messages and tool calls follow a template that does not insert them', () => {
    const messages = [{ type: 'message', text: 'Use ISO weeks.', data: null, isDelivered: false }];
    const calls = [entry('agent_tool', 'ls', { call: 1, isLater: true })];
    const news = { instructions: 'Mend it.', messages, entries: calls };
    const template = 'Do it: {{instructions}}';
    const continued = prompt({ ...news, beginning: 'continued' }, template);
    expect(continued).toMatch(
      /^Do it: Mend it\.\n\n## Messages of people\n\nUse ISO weeks\.\n\n## Tool calls of [^]*Call: shell /,
    );
    expect(prompt(news, template)).toMatch(
      /Use ISO weeks\.\n\n## End of the [^]*\n\[tool\] shell /,
    );
    const hidden = `${template}{{#steps}}{{messages}}{{calls}}{{/steps}}`;
    expect(prompt({ ...news, beginning: 'continued' }, hidden)).toBe(continued);
    const own = '{{instructions}} {{messages}} {{calls}}';
    expect(prompt({ ...news, beginning: 'continued' }, own)).toMatch(
      /^Mend it\. Use ISO weeks\. - may have happened\n {2}Call: .*$/,
    );
  });

  it('the words of a person follow a template that does not insert them', () => {
    const continued = { title: 'Mend the parser', summary: 'Mended.' };
    const of = { title: 'A test', instructions: 'Now add a test.', continued };
    const words = '## A person continues your conversation\n\nNow add a test.';
    const template = '# {{title}}\n\n{{instructions}}';
    const text = prompt({ ...of, beginning: 'continued' }, template);
    expect(text).toBe(`# Mend the parser\n\n${words}`);
    expect(prompt(of, `${template}{{continuation}}`)).not.toContain(words);
    const again = prompt({ ...of, beginning: 'resumed' }, RESUMED_TEMPLATE);
    expect(again).toMatch(/may have this message already:\n\nNow add a test\.$/);
  });

  it('a template that inserts nothing gives the title', () => {
    expect(prompt({}, '{{steps}}')).toBe('Mend the parser');
  });
});
