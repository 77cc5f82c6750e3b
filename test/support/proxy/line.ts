import type { Socket } from 'node:net';

/** Handles the bytes of one connection. */
export interface Relay {
  fromClient(bytes: Buffer): void;
  fromServer(bytes: Buffer): void;
}

/** One connection through a proxy. */
export class Line {
  delayMs = 0;
  private isSilent = false;

  constructor(
    private readonly near: Socket,
    private readonly far: Socket,
    private readonly onEnd: () => void,
  ) {}

  pass(relay: Relay = this.plain()): void {
    this.near.on('data', (bytes: Buffer) => this.hear(() => relay.fromClient(bytes)));
    this.far.on('data', (bytes: Buffer) => this.hear(() => relay.fromServer(bytes)));
    for (const socket of [this.near, this.far]) {
      socket.on('error', () => this.end());
      socket.on('close', () => this.end());
    }
  }

  toServer(bytes: Buffer): void {
    this.send(this.far, bytes);
  }

  toClient(bytes: Buffer): void {
    this.send(this.near, bytes);
  }

  /** Blocks everything from now on, including the end of either side. */
  silence(): void {
    this.isSilent = true;
  }

  drop(): void {
    this.near.destroy();
    this.far.destroy();
    this.onEnd();
  }

  // Timers of one length fire in the order of their creation, so the bytes stay in order.
  private hear(react: () => void): void {
    if (this.delayMs === 0) react();
    else setTimeout(react, this.delayMs);
  }

  private send(socket: Socket, bytes: Buffer): void {
    if (!this.isSilent && !socket.destroyed) socket.write(bytes);
  }

  private end(): void {
    if (!this.isSilent) this.drop();
  }

  private plain(): Relay {
    return {
      fromClient: (bytes) => this.toServer(bytes),
      fromServer: (bytes) => this.toClient(bytes),
    };
  }
}
