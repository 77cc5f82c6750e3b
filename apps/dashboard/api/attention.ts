import type { components } from '#lib/api-client';
import { useRead } from './read.js';

export type Attention = components['schemas']['Attention'];

const EVERY_MS = 15_000;
const MAX_COUNT = 100;

/** Reads the counts for the overview and the menu. */
export function useAttention() {
  return useRead(['attention'], (api, signal) => api.get('/api/v1/attention', { signal }), {
    every: EVERY_MS,
  });
}

export const formatAttention = (count: number) => (count < MAX_COUNT ? String(count) : '100+');
