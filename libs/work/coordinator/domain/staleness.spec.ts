import { describe, expect, it } from '@jest/globals';
import { evaluateStaleness, type Spared } from './staleness.js';

const LONG = 1_000_000;

function agents(...seconds: number[]): { thresholdMs: number }[] {
  return seconds.map((each) => ({ thresholdMs: each * 1_000 }));
}

interface Case {
  what: string;
  unresponsive: number[];
  size: number;
  heardMs?: number | null;
  observedMs?: number;
  suspectedMs?: number;
  lost: number;
  why: Spared | null;
}

const CASES: Case[] = [
  { what: 'nobody', unresponsive: [], size: 5, lost: 0, why: null },
  { what: 'one of many', unresponsive: [45], size: 5, heardMs: 10, lost: 1, why: null },
  { what: 'the only one', unresponsive: [45], size: 1, heardMs: 46_000, lost: 1, why: null },
  { what: 'both of two', unresponsive: [45, 45], size: 2, heardMs: 46_000, lost: 2, why: null },
  {
    what: 'one that could not have been heard yet',
    unresponsive: [45],
    size: 1,
    observedMs: 44_999,
    lost: 0,
    why: 'listening_too_short',
  },
  {
    what: 'one of two that could have been heard, at its threshold to the millisecond',
    unresponsive: [45, 180],
    size: 9,
    heardMs: 10,
    observedMs: 45_000,
    lost: 1,
    why: 'listening_too_short',
  },
  {
    what: 'a whole fleet, noticed just now',
    unresponsive: [45, 45, 45],
    size: 3,
    heardMs: 46_000,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a whole fleet that is waited for',
    unresponsive: [45, 45, 90],
    size: 3,
    heardMs: 120_000,
    suspectedMs: 89_999,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a whole fleet that stayed unresponsive one threshold more',
    unresponsive: [45, 45, 90],
    size: 3,
    heardMs: 190_000,
    suspectedMs: 90_000,
    lost: 3,
    why: null,
  },
  {
    what: 'nearly a whole fleet while somebody heartbeats: its gateway was restarted',
    unresponsive: [45, 45, 45, 45],
    size: 5,
    heardMs: 9_000,
    lost: 4,
    why: null,
  },
  {
    what: 'just half of a fleet',
    unresponsive: [45, 45, 45],
    size: 6,
    heardMs: 46_000,
    lost: 3,
    why: null,
  },
  {
    what: 'more than half, the others with a longer threshold and quiet as well',
    unresponsive: [45, 45, 45],
    size: 5,
    heardMs: 46_000,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a fleet that never sent heartbeats',
    unresponsive: [45, 45, 45],
    size: 3,
    heardMs: null,
    lost: 0,
    why: 'whole_fleet_silent',
  },
  {
    what: 'a whole fleet waited for by a coordinator that could not hear meanwhile',
    unresponsive: [45, 45, 45],
    size: 3,
    heardMs: 100_000,
    suspectedMs: 50_000,
    observedMs: 10_000,
    lost: 0,
    why: 'listening_too_short',
  },
];

describe('evaluateStaleness', () => {
  it.each(CASES)('staleness of the fleet: $what', (facts) => {
    const { heardMs = 0, observedMs = LONG, suspectedMs = 0 } = facts;
    const unresponsive = agents(...facts.unresponsive);
    const fleet = { size: facts.size, lastHeardMs: heardMs };
    const staleness = evaluateStaleness(unresponsive, fleet, { observedMs, suspectedMs });
    expect(staleness.lost).toHaveLength(facts.lost);
    expect(staleness.spared).toHaveLength(facts.unresponsive.length - facts.lost);
    expect(staleness.why).toBe(facts.why);
  });
});
