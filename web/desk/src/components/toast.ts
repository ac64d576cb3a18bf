import { toast } from 'sonner';
import { message } from './message';

/** Shows the result of an action; text is what a failure says. Notices never hold words of a report. */
export async function attempt<T>(
  text: { failed: (why: string) => string; noReply: string },
  action: () => Promise<T>,
  done?: string,
): Promise<T | undefined> {
  try {
    const result = await action();
    if (done) toast.success(done);
    return result;
  } catch (error) {
    toast.error(text.failed(message(error, text)));
    return undefined;
  }
}
