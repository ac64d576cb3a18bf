/* The only script of a guide, inlined in it. */
import './content-page';
import './read-aloud';
