import { Injectable } from '@nestjs/common';
import { parseRequest } from '../common/request-parser.js';
import { ClientReports } from '../turns/engine/client-reports.js';
import { EventAnswers } from './event-answers.js';
import { ToolResultDto, ToolStatusDto } from './relay.dto.js';
import { onEvent, type RelaySocket } from './relay-socket.js';

/** The events that every call sends: bound to the socket itself, since Nest's pipeline costs more than they do. */
@Injectable()
export class CallEvents {
  constructor(
    private readonly reports: ClientReports,
    private readonly answers: EventAnswers,
  ) {}

  bind(socket: RelaySocket): void {
    const on = (event: string, handle: (body: unknown) => Promise<object>): void =>
      onEvent(socket, event, (body, answer) => void this.answers.of(socket, () => handle(body)).then(answer));
    on('tool:status', (body) => this.status(socket, body));
    on('tool:result', (body) => this.result(socket, body));
  }

  /** A step of a call that the client is handling. */
  private async status(socket: RelaySocket, body: unknown): Promise<object> {
    const { status, note = null, ...call } = parseRequest(ToolStatusDto, body);
    await this.reports.status(socket.data.client.key, call, status, note);
    return {};
  }

  /** How a call ended; acknowledged once it is committed. */
  private async result(socket: RelaySocket, body: unknown): Promise<{ duplicate?: true }> {
    const report = parseRequest(ToolResultDto, body);
    const duplicate = await this.reports.result(socket.data.client.key, report, report);
    return duplicate ? { duplicate: true } : {};
  }
}
