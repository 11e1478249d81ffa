import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Bus, type BusMessage } from './bus.js';

/** The bus of a server that is the only node. */
@Injectable()
export class InProcessBus extends Bus {
  override readonly isAlone = true;
  override readonly messages$ = new Subject<BusMessage>();

  publish(message: BusMessage): void {
    this.messages$.next(message);
  }
}
