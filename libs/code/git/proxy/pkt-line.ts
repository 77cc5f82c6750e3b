/** The first part of a push: the refs that it wants to change. */
export interface PushHead {
  refs: { from: string; to: string; name: string }[];
  capabilities: string[];
}

/** The maximum of the refs of a push, in bytes. */
export const MAX_HEAD_BYTES = 1024 * 1024;

/**
 * Reads the refs of a push from the start of its body.
 *
 * @returns `more`: the start is not whole yet; `unreadable`: it is no push
 */
export function readPushHead(bytes: Buffer): PushHead | 'more' | 'unreadable' {
  const refs: PushHead['refs'] = [];
  let capabilities: string[] = [];
  for (let at = 0; ;) {
    if (bytes.length < at + 4) return 'more';
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    if (Number.isNaN(length) || (length > 0 && length < 4)) return 'unreadable';
    if (length === 0) return { refs, capabilities };
    if (bytes.length < at + length) return 'more';
    const [command = '', offered] = bytes.toString('utf8', at + 4, at + length).split('\0');
    at += length;
    if (offered !== undefined) capabilities = offered.trim().split(' ');
    const [from, to, ...name] = command.trimEnd().split(' ');
    // A client with a shallow copy names its border first.
    if (from === 'shallow') continue;
    if (from === undefined || to === undefined || name.length === 0) return 'unreadable';
    refs.push({ from, to, name: name.join(' ') });
  }
}

/** The answer to a push of which nothing was taken, with the reason for each ref. */
export function refusalOf({ refs, capabilities }: PushHead, why: string): Buffer {
  const sentence = why.replace(/\s+/g, ' ').slice(0, 500);
  const report = Buffer.concat([
    line('unpack ok\n'),
    ...refs.map(({ name }) => line(`ng ${name} ${sentence}\n`)),
    Buffer.from('0000'),
  ]);
  if (!capabilities.some((name) => name.startsWith('side-band'))) return report;
  const words = band(2, Buffer.from(`${sentence}\n`));
  return Buffer.concat([words, band(1, report), Buffer.from('0000')]);
}

function band(number: number, content: Buffer): Buffer {
  return line(Buffer.concat([Buffer.from([number]), content]));
}

function line(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}
