import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '#lib/identity';
import { Metrics } from './metrics.js';

/** For Prometheus, which has its own token and no account. */
@ApiExcludeController()
@Public({ unlimited: true })
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  async read(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    this.metrics.require(authorization);
    const { type, body } = await this.metrics.text();
    void reply.header('content-type', type).header('cache-control', 'no-store');
    return body;
  }
}
