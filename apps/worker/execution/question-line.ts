import type { JsonObject } from '#lib/agent-host';
import type { Question } from '../api/types.js';

/**
 * Reads a question of a process to people. The server judges what its members say: a question that it refuses fails the
 * run, with the reason in words.
 *
 * @returns null unless every member has its type; members that it does not know are left out
 */
export function readQuestion(value: unknown): Question | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const given = value as JsonObject;
  const named = Object.keys(READERS).filter((name) => given[name] !== undefined);
  if (!named.every((name) => READERS[name as keyof Question](given[name]))) return null;
  if (given['prompt'] === undefined || given['onDeadline'] === undefined) return null;
  return Object.fromEntries(named.map((name) => [name, given[name]])) as unknown as Question;
}

const isText = (value: unknown) => typeof value === 'string' && value.trim() !== '';

const READERS: Record<keyof Question, (value: unknown) => boolean> = {
  prompt: isText,
  choices: (value) => Array.isArray(value) && value.every(isText),
  freeText: (value) => typeof value === 'boolean',
  deadlineSeconds: (value) => Number.isInteger(value),
  deadlineAt: isText,
  onDeadline: (value) => value === 'default' || value === 'fail',
  default: isText,
};
