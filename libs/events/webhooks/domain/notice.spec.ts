import { describe, expect, it } from '@jest/globals';
import { CATALOGUE, type EventName, exampleOf } from '#lib/journal/domain';
import { cutUrl, hiddenParts } from './kinds.js';
import { noticeBody, noticeOf, unknownNames } from './notice.js';
import { settingsErrors } from './notice-settings.js';
import { headlineOf, type NoticeEvent, sentenceOf } from './words.js';

const ID = '0198c5a0-1111-7000-8000-000000000001';

function failed(taskTitle?: string): NoticeEvent {
  const body = { event: 'task.status_changed', newStatus: 'FAILED', taskId: ID, reason: 'timeout' };
  return { body, taskTitle };
}

function told(kind: 'slack' | 'discord' | 'email', events: NoticeEvent[], template?: string) {
  const counts = new Map([['a task failed', events.length]]);
  return noticeOf(kind, { events, counts, template: template ?? null });
}

describe('a sentence', () => {
  it.each(Object.keys(CATALOGUE) as EventName[])(
    'the sentence for %s says what happened',
    (name) => {
      const body = exampleOf(name);
      const sentence = sentenceOf({ body });
      expect(sentence).toMatch(/^[A-Z\d].*\.$/);
      expect(sentence).not.toMatch(/undefined|null|NaN|\[object|https?:/);
      expect(headlineOf(name, body['newStatus'])).not.toBe(name);
    },
  );

  it('a sentence says what to do', () => {
    expect(sentenceOf(failed('Mend the roof'))).toBe(
      `Task “Mend the roof” (${ID}) failed: timeout. Look at its log, then retry it.`,
    );
  });

  it.each([
    ['the lunch break', 'It waits until somebody resumes it.'],
    ['constructor', 'It waits until somebody resumes it.'],
    ['question', 'It goes on when its question is answered.'],
    ['provider_limited', 'It goes on by itself when the limit ends.'],
  ])('the sentence of a task that was paused for %s says how it goes on', (reason, advice) => {
    const body = { event: 'task.status_changed', newStatus: 'PAUSED', taskId: ID, reason };
    expect(sentenceOf({ body })).toBe(`Task ${ID} was paused: ${reason}. ${advice}`);
  });

  it.each([
    ['Which file', 'asks: Which file. Answer it until'],
    ['Which file?', 'asks: Which file? Answer it until'],
  ])('the question "%s" ends before the next sentence', (prompt, shown) => {
    const body = { ...exampleOf('question.asked'), prompt, choices: null };
    expect(sentenceOf({ body })).toContain(shown);
  });

  it('a sentence stays on one line, whatever the title contains', () => {
    const sentence = sentenceOf(failed('a\r\nBcc: x@example.com\u202E\u2028b\u0000'));
    expect(sentence).toContain('“a Bcc: x@example.com b”');
  });
});

describe('a message', () => {
  it.each([
    ['slack', '<!channel> & <https://x|y>', '&lt;!channel&gt; &amp; &lt;https://x|y&gt;'],
    [
      'discord',
      '@everyone **b** [x](y) <@1>',
      '\\@everyone \\*\\*b\\*\\* \\[x\\]\\(y\\) \\<\\@1\\>',
    ],
    ['email', '<b>&</b>', '<b>&</b>'],
  ] as const)('a message to %s shows %p as text', (kind, title, shown) => {
    expect(told(kind, [failed(title)]).text).toContain(`“${shown}”`);
    // The user's own markup is markup. Inserted text is not.
    const { text } = told(kind, [failed(`${title} {{reason}}`)], '*{{ task.title }}* <!here>');
    expect(text).toMatch(/^\*.*\{\{reason\}\}\* <!here>$/);
    expect(text).toContain(shown);
  });

  it('a template without a result falls back to the usual sentence', () => {
    const body = exampleOf('task.created');
    const events = [{ body, taskTitle: 'Tidy up' }];
    const { text } = noticeOf('slack', { events, counts: new Map(), template: ' {{reason}}' });
    expect(text).toContain('Tidy up');
  });

  it('a message pings nobody in Discord', () => {
    const body = JSON.parse(noticeBody('discord', { subject: '', text: '@everyone' })) as object;
    expect(body).toEqual({ content: '@everyone', allowed_mentions: { parse: [] }, flags: 4 });
  });

  it('a message counts the events that it does not list', () => {
    const counts = new Map([
      ['a task failed', 996],
      ['a task was completed', 4],
    ]);
    const { subject, text } = noticeOf('email', {
      events: [failed('one'), failed('two')],
      counts,
      template: null,
    });
    expect(subject).toBe('[Drover] 1000 events: 996 × a task failed, 4 × a task was completed');
    expect(text.split('\n')).toEqual([
      '1000 events: 996 × a task failed, 4 × a task was completed',
      expect.stringContaining('“one”'),
      expect.stringContaining('“two”'),
      '… and 998 more.',
    ]);
  });

  it.each([
    ['slack', 4_000],
    ['discord', 2_000],
    ['email', 50_000],
  ] as const)('a message to %s respects the length limit', (kind, max) => {
    const many = Array.from({ length: 50 }, () => failed('<'.repeat(200)));
    const { text } = told(kind, many, `${'x'.repeat(1_900)} {{text}}`);
    expect(text.length).toBeLessThanOrEqual(max);
    const [shown] = /and (\d+) more/.exec(text)?.slice(1) ?? ['0'];
    expect(text.split('\n•').length - 1).toBe(50 - Number(shown));
    expect(told(kind, [failed()], 'x{{text}}'.repeat(200)).text.length).toBeLessThanOrEqual(max);
  });
});

describe('settings', () => {
  it.each([
    ['{{task.title}} {{ reason }} {{text}}', []],
    ['{{task.secret}} {{constructor}} {{task.secret}}', ['task.secret', 'constructor']],
    ['{{__proto__}} {{toString}}', ['__proto__', 'toString']],
    ['{{ }} {task.title} {{#if x}}', []],
  ])('the template %p has these unknown names: %p', (template, unknown) => {
    expect(unknownNames(template)).toEqual(unknown);
    expect(settingsErrors('slack', { template })).toHaveLength(unknown.length > 0 ? 1 : 0);
  });

  const hours = { from: '22:00', to: '07:00', timeZone: 'UTC' };

  it.each([
    ['slack', {}, undefined],
    ['signed', { template: null, digestSeconds: 5 }, 'digestSeconds'],
    ['email', { digestSeconds: 59 }, 'digestSeconds'],
    ['discord', { digestSeconds: 0, quietHours: hours }, undefined],
    ['discord', { quietHours: { ...hours, timeZone: 'CEST+2' } }, 'quietHours.timeZone'],
    ['slack', { quietHours: { ...hours, to: '22:00' } }, 'quietHours'],
    ['slack', { quietHours: { ...hours, to: '22:00', days: ['SAT' as const] } }, undefined],
  ] as const)('settings of %s can be %j, or %s is wrong', (kind, request, field) => {
    const errors = settingsErrors(kind, request as never);
    expect(errors.map((error) => error.field)).toEqual(field === undefined ? [] : [field]);
  });
});

describe('a URL that is a secret', () => {
  it.each([
    ['https://hooks.slack.com/services/T0/B0/xyz', 'https://hooks.slack.com/services/T0/B0/…'],
    [
      'https://discord.com/api/webhooks/12/tok?thread_id=1',
      'https://discord.com/api/webhooks/12/…',
    ],
    [
      'https://discord.com/api/v10/webhooks/12/tok/slack',
      'https://discord.com/api/v10/webhooks/12/…',
    ],
    ['https://a.example/secret/', 'https://a.example/…'],
    ['https://a.example', 'https://a.example/…'],
  ])('the URL %s is shown as %s', (url, shown) => {
    expect(cutUrl(url)).toBe(shown);
  });

  it.each([
    ['https://hooks.slack.com/services/T0/B0/xyz', ['xyz']],
    ['https://discord.com/api/webhooks/12/tok/slack?thread_id=1', ['tok', 'slack', '1']],
    ['https://a.example/s%20t/?u=%41', ['s%20t', 'A', 's t']],
    ['https://a.example/%zz', ['%zz']],
    ['https://a.example', []],
  ])('the URL %s has the hidden parts %j', (url, parts) => {
    expect(hiddenParts(url)).toEqual(parts);
  });
});
