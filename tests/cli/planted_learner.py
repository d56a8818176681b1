"""A worker that learns digits in numpy, with a mistake where a variable asks for one."""

import os
import sys

sys.path[:0] = sys.argv[1:]
import assay_digits  # noqa: E402
import assay_worker  # noqa: E402


class Learner(assay_worker.Framework):
    def prepare(self, prepare):
        import digits_oracle
        import numpy

        assay_digits.refuse_early(prepare)
        prepare.refuse_settings_beyond({"intra_op"})
        self.lessons = assay_digits.Lessons(prepare)
        mistake = os.environ.get("PLANTED", "none")
        shift = 1 if mistake == "labels" else 0
        trained = self.lessons.trained
        self.lessons.trained = assay_digits.Part(trained.images, numpy.roll(trained.labels, shift))
        weights = assay_digits.first_weights(prepare)
        self.network = digits_oracle.Network(prepare.graph, weights, "float32")
        self.method = digits_oracle.Sgd(self.lessons.learning_rate * (10 if mistake == "rate" else 1))
        self.losses = []
        count = sum(value.size for value in weights.values())
        return assay_worker.Prepared(versions={"numpy": numpy.__version__}, parameters=count)

    def step(self):
        loss, gradients = self.network.loss_and_gradients(*self.lessons.next())
        self.method.update(self.network.weights, gradients)
        self.losses.append(float(loss))

    def score(self):
        held_out = self.lessons.held_out
        right = int((self.network.output(held_out.images).argmax(1) == held_out.labels).sum())
        losses, self.losses = assay_digits.finite(self.losses), []
        self.lessons.turn()
        return right, len(held_out.labels), losses


assay_worker.serve(Learner)
