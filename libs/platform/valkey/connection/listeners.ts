/** Callbacks. One that throws does not prevent the others. */
export class Listeners<Args extends unknown[]> {
  private readonly all = new Set<(...args: Args) => void>();

  constructor(private readonly onError: (error: unknown) => void) {}

  /**
   * @returns removes the listener
   */
  add(listener: (...args: Args) => void): () => void {
    // A wrapper of its own, so that a function that is added twice is called twice.
    const own = (...args: Args): void => listener(...args);
    this.all.add(own);
    return () => this.all.delete(own);
  }

  call(...args: Args): void {
    for (const listener of this.all) {
      try {
        listener(...args);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}
