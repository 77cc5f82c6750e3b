import { Controller, Get } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { Gateway } from '../gateway.js';

@Controller()
export class HealthController {
  constructor(private readonly gateway: Gateway) {}

  @Get('healthz')
  alive() {
    return { status: 'alive' };
  }

  /** The server's state is informative only: running sessions continue without the server. */
  @Get('readyz')
  ready() {
    const { sessions, serverState } = this.gateway;
    if (sessions.isDraining) throw new DroverError('gateway_draining', { retryAfterSeconds: 15 });
    return { status: 'ready', server: serverState ?? 'unreachable' };
  }
}
