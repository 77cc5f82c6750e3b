import { describe, expect, it } from '@jest/globals';
import { judgeSilence, type Spared } from './silence.js';

const LONG = 1_000_000;

function agents(...seconds: number[]): { thresholdMs: number }[] {
  return seconds.map((each) => ({ thresholdMs: each * 1_000 }));
}

interface Case {
  what: string;
  silent: number[];
  size: number;
  heardMs?: number | null;
  listeningMs?: number;
  suspiciousMs?: number;
  lost: number;
  why: Spared | null;
}

const CASES: Case[] = [
  { what: 'nobody', silent: [], size: 5, lost: 0, why: null },
  { what: 'one of many', silent: [45], size: 5, heardMs: 10, lost: 1, why: null },
  { what: 'the only one', silent: [45], size: 1, heardMs: 46_000, lost: 1, why: null },
  { what: 'both of two', silent: [45, 45], size: 2, heardMs: 46_000, lost: 2, why: null },
  {
    what: 'one that could not have been heard yet',
    silent: [45],
    size: 1,
    listeningMs: 44_999,
    lost: 0,
    why: 'listening_too_short',
  },
  {
    what: 'one of two that could have been heard, at its threshold to the millisecond',
    silent: [45, 180],
    size: 9,
    heardMs: 10,
    listeningMs: 45_000,
    lost: 1,
    why: 'listening_too_short',
  },
  {
    what: 'a whole fleet, noticed just now',
    silent: [45, 45, 45],
    size: 3,
    heardMs: 46_000,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a whole fleet that is waited for',
    silent: [45, 45, 90],
    size: 3,
    heardMs: 120_000,
    suspiciousMs: 89_999,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a whole fleet that stayed silent one threshold more',
    silent: [45, 45, 90],
    size: 3,
    heardMs: 190_000,
    suspiciousMs: 90_000,
    lost: 3,
    why: null,
  },
  {
    what: 'nearly a whole fleet while somebody beats: its gateway was restarted',
    silent: [45, 45, 45, 45],
    size: 5,
    heardMs: 9_000,
    lost: 4,
    why: null,
  },
  {
    what: 'just half of a fleet',
    silent: [45, 45, 45],
    size: 6,
    heardMs: 46_000,
    lost: 3,
    why: null,
  },
  {
    what: 'more than half, the others with a longer threshold and quiet as well',
    silent: [45, 45, 45],
    size: 5,
    heardMs: 46_000,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a fleet that never beat',
    silent: [45, 45, 45],
    size: 3,
    heardMs: null,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a whole fleet waited for by somebody who was deaf meanwhile',
    silent: [45, 45, 45],
    size: 3,
    heardMs: 100_000,
    suspiciousMs: 50_000,
    listeningMs: 10_000,
    lost: 0,
    why: 'listening_too_short',
  },
];

describe('judgeSilence', () => {
  it.each(CASES)('$what', (facts) => {
    const { heardMs = 0, listeningMs = LONG, suspiciousMs = 0 } = facts;
    const silent = agents(...facts.silent);
    const fleet = { size: facts.size, lastHeardMs: heardMs };
    const verdict = judgeSilence(silent, fleet, { listeningMs, suspiciousMs });
    expect(verdict.lost).toHaveLength(facts.lost);
    expect(verdict.spared).toHaveLength(facts.silent.length - facts.lost);
    expect(verdict.why).toBe(facts.why);
  });
});
