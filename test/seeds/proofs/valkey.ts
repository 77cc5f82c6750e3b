import { Redis } from 'iovalkey';
import { waitFor } from '../../support/wait-for.js';

export interface Heard {
  /** Waits for a message that has at least these fields. */
  message(fields: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/** Subscribes to a channel as a program beside the servers does. */
export async function hearChannel(
  { url, keyPrefix }: { url: string; keyPrefix: string },
  channel: string,
): Promise<Heard> {
  const client = new Redis(url);
  const messages: Record<string, unknown>[] = [];
  client.on('message', (_: string, text: string) => {
    messages.push(JSON.parse(text) as Record<string, unknown>);
  });
  await client.subscribe(keyPrefix + channel);
  return {
    message: (fields) =>
      waitFor(`${JSON.stringify(fields)} on ${channel}`, () =>
        messages.find((one) => Object.entries(fields).every(([key, value]) => one[key] === value)),
      ),
    close: async () => {
      await client.quit();
    },
  };
}
