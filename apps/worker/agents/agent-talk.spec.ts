import { expect, it } from '@jest/globals';
import type { AgentImage } from '#lib/agent-kinds';
import type { RunMessage } from '../api/types.js';
import { AgentTalk, type TalkParts } from './agent-talk.js';

const PICTURE: AgentImage = { mediaType: 'image/png', content: Buffer.from('pixels') };

function aMessage(text: string, data: object | null = null): RunMessage {
  const fixed = { type: 'message', deliver: 'turn_end', questionId: null };
  return { id: text, text, data, position: 1, ...fixed } as unknown as RunMessage;
}

function aTalk() {
  const said: unknown[][] = [];
  let fetched!: (images: AgentImage[]) => void;
  const parts = {
    attach: () =>
      new Promise((resolve) => {
        const list = (images: AgentImage[]) => (images.length === 0 ? '' : '- "a.png"');
        fetched = (images) => resolve({ list: list(images), images });
      }),
  } as unknown as TalkParts;
  const session = {
    say: (text: string, _deliver: string, _id?: string, images: readonly AgentImage[] = []) =>
      void said.push([text, images.length]),
    addFiles: () => Promise.resolve(),
  };
  const talk = new AgentTalk(parts);
  return {
    said,
    hear: (message: RunMessage) => talk.hear(message, session),
    fetch: async (images: AgentImage[]) => {
      await Promise.resolve();
      fetched(images);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    },
  };
}

it('a message with files waits for them, and later messages for it', async () => {
  const { said, hear, fetch } = aTalk();
  hear(aMessage('first'));
  hear(aMessage('second', { attachments: 'an id', file: 'a.ts' }));
  hear(aMessage('third'));
  expect(said).toEqual([['first', 0]]);
  await fetch([PICTURE]);
  const second = 'second\n\n```json\n{\n  "file": "a.ts"\n}\n```\n\nAttached files:\n\n- "a.png"';
  expect(said.slice(1)).toEqual([
    [second, 1],
    ['third', 0],
  ]);
  hear(aMessage('fourth'));
  expect(said.at(-1)).toEqual(['fourth', 0]);
});

it('a message of files alone has their paths, or says that they cannot be read', async () => {
  const { said, hear, fetch } = aTalk();
  hear(aMessage('', { attachments: 'an id' }));
  await fetch([PICTURE]);
  hear(aMessage('', { attachments: 'an id' }));
  await fetch([]);
  expect(said).toEqual([
    ['Attached files:\n\n- "a.png"', 1],
    ['A person attached files, but they cannot be read.', 0],
  ]);
});
