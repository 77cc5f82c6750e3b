import type { components, DroverClient } from '#lib/api-client';
import { readLog } from '../timeline.js';

type Change = components['schemas']['WholeChange'];

export interface Step {
  at: Date;
  text: string;
}

const EVENTS = ['agent_message', 'agent_tool', 'agent_resumed'];

/** The steps of a change in their order: of its agent, its acceptance and people, and further ones. */
export async function stepsOf(
  change: Change,
  member: DroverClient,
  further: readonly Step[],
): Promise<string[]> {
  const log = await readLog(member, change.id);
  const steps = log.flatMap(({ event, message, createdAt }): Step[] => {
    return EVENTS.includes(event) && message !== null
      ? [{ at: new Date(createdAt), text: firstLine(message) }]
      : [];
  });
  const proofs = change.reviews.flatMap(({ kind, verdict, body, createdAt }): Step[] => {
    const output = body.trim() === '' ? '' : `: ${firstLine(body)}`;
    const text = `Acceptance is ${verdict}${output}`;
    return kind === 'proof' ? [{ at: new Date(createdAt), text }] : [];
  });
  const times = [
    { at: change.approvedAt, text: 'Approved by Grace' },
    { at: change.mergedAt, text: `Merged into ${change.target}` },
  ].flatMap(({ at, text }): Step[] => (at === null ? [] : [{ at: new Date(at), text }]));
  return [...steps, ...proofs, ...times, ...further]
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ text }) => text);
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
