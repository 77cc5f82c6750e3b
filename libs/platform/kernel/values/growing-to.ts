/**
 * The options of an LRUCache that takes memory as it fills. `max` reserves 24 bytes for each entry
 * to come at once, and more with times or sizes.
 *
 * @param entries the maximum number of entries
 */
export function growingTo(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
