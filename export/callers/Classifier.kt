// Not compiled here. Gradle: implementation("com.google.ai.edge.litert:litert:2.1.0")
// For the profiles cpu, mobile, gpu and float32, whose input is in float32.

import android.content.Context
import android.graphics.Bitmap
import com.google.ai.edge.litert.Accelerator
import com.google.ai.edge.litert.CompiledModel

class Classifier(context: Context, asset: String, private val width: Int, private val height: Int) : AutoCloseable {
    private val model =
        CompiledModel.create(context.assets, asset, CompiledModel.Options(Accelerator.CPU))
    private val inputs = model.createInputBuffers()
    private val outputs = model.createOutputBuffers()

    /** The logits, in the order of labels.txt. */
    fun classify(picture: Bitmap): FloatArray {
        val small = Bitmap.createScaledBitmap(picture, width, height, true)
        val colours = IntArray(width * height)
        small.getPixels(colours, 0, width, 0, 0, width, height)
        val pixels = FloatArray(3 * colours.size)
        colours.forEachIndexed { index, colour ->
            pixels[3 * index] = (colour shr 16 and 255).toFloat()
            pixels[3 * index + 1] = (colour shr 8 and 255).toFloat()
            pixels[3 * index + 2] = (colour and 255).toFloat()
        }
        inputs[0].writeFloat(pixels)
        model.run(inputs, outputs)
        return outputs[0].readFloat()
    }

    override fun close() = model.close()
}
