import { Injectable } from '@nestjs/common';
import type { UsageReport } from './reports.js';

/** What a use of a model costs. */
@Injectable()
export class Prices {
  /** In USD; exact, as text. @throws DroverError `unknown_model` */
  async costOf(_report: Omit<UsageReport, 'operation' | 'costUsd'>): Promise<string> {
    return '0';
  }
}
