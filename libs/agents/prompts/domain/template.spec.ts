import { describe, expect, it } from '@jest/globals';
import { DEFAULT_TEMPLATE, RESUMED_TEMPLATE } from './default-template.js';
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
    inputContext: {},
    checkpointData: {},
    answers: [],
    prerequisites: [],
    runs: [],
    messages: [],
    beginning: 'new',
    lostFiles: [],
    ...changes,
  };
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

  it('each part of a task and its past has a section', () => {
    const text = prompt({
      description: 'ISO weeks fail.',
      instructions: 'Use <no> library & no "quotes".',
      steps: ['Read', 'Write'],
      deliverables: ['A test'],
      acceptance: ['npm test'],
      inputContext: { file: 'parser.ts' },
      checkpointData: { page: 7, agent: { kind: 'codex', transcript: 'I read the file.' } },
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
        },
      ],
      messages: [{ type: 'review', text: 'Mind the weeks.', data: null }],
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
      '## End of the earlier conversation\n\nI read the file.',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('a continued conversation begins with the words of the person', () => {
    const agent = { transcript: 'The parser is mended.', continues: true };
    const text = prompt({ instructions: 'Now add a test.', checkpointData: { agent } });
    expect(text).toMatch(/^You have worked on "Mend the parser" before\. .*:\n\nNow add a test\./);
    expect(text).toContain('## End of the earlier conversation\n\nThe parser is mended.');
    expect(text).not.toContain('## Instructions');
  });

  it('a resumed conversation begins with the news only', () => {
    const lostFiles = ['big.bin'];
    const text = prompt({ instructions: 'Mend it.', lostFiles }, RESUMED_TEMPLATE);
    expect(text).toMatch(/^Your session was interrupted\. Continue where you stopped\./);
    expect(text).toMatch(/## Files that no longer exist in the working folder\n\n- "big\.bin"$/);
    expect(text).not.toContain('Mend it.');
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

  it('a template that inserts nothing gives the title', () => {
    expect(prompt({}, '{{steps}}')).toBe('Mend the parser');
  });
});
